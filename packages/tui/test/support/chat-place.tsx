/** The workspace of a chat's project, for screens, and a first screen to open them from. */
import { once } from "node:events";
import type { ReactElement, ReactNode } from "react";
import type { Place } from "../../src/data/connection.ts";
import { useFrame, useKeys } from "../../src/frame/frame.tsx";
import { line } from "../../src/frame/line.ts";
import { Page } from "../../src/frame/page.tsx";
import type { Chat } from "./chat.ts";

/** Screens over the process that serves the project. */
export function placeOf(chat: Chat): Place {
  return {
    workspace: chat.project.project,
    name: "project",
    clock: Date.now,
    expectsResident: false,
    connect: () =>
      Promise.resolve({
        client: chat.client,
        by: "resident" as const,
        // oxlint-disable-next-line require-yield -- nothing is told here; the screens ask
        async *events(_workspace: string, signal: AbortSignal) {
          if (!signal.aborted) await once(signal, "abort");
        },
        [Symbol.asyncDispose]: () => Promise.resolve(),
      }),
  };
}

/** Opens a question with Enter or u, as the timeline does, and shows what it did. */
export function FirstScreen({ opens }: { readonly opens: ReactElement }): ReactNode {
  const frame = useFrame();
  const keys = useKeys([{ keys: ["enter", "u"], run: () => frame.open(opens, { question: true }) }]);
  return <Page body={[line("the first screen")]} keys={keys} />;
}
