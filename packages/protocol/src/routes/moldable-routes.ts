/** The commands of Moldable's desktop shell over HTTP, for shells that are not written in JavaScript. */
import { z } from "zod";
import { text, type Route } from "./route-parts.ts";

/** The longest id of an app, a conversation or a message. */
const id = text(500).min(1);

/** The routes of Moldable's front. */
export const MOLDABLE = {
  "POST /api/moldable/:command": {
    summary:
      "A command of Moldable's shell (`create_checkpoint`, `list_checkpoints`, `restore_checkpoint` …), with arguments in camelCase; what a command does not know is ignored.",
    body: z.looseObject({
      appId: id,
      appDir: text(4096).optional(),
      conversationId: id.optional(),
      messageId: id.optional(),
      keepLastN: z.int().min(0).optional(),
    }),
    response: z.looseObject({
      /** What the command returns; null where that is nothing. */
      result: z.unknown(),
    }),
    // it protects directories that the caller names
    ownProgramsOnly: true,
  },
} as const satisfies Readonly<Record<string, Route>>;
