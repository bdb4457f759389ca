/** Commands that were handed over, run in the resident process on workspaces that are open already. */
import { existsSync } from "node:fs";
import type { Extension, WorkspaceHost } from "@belay/server";
import type { Call } from "../call/command.ts";
import { collectOutput } from "../output/output.ts";
import type { SentText } from "../output/pager.ts";
import { HAND_OVER_PATH, type HandedAnswer, type HandedCommand } from "./hand-over.ts";

/** Variables that this process has read once and for all: to a caller with others it would answer wrongly. */
const SHARED = ["HOME", "TZ"];

/** In this time a tree of 100,000 files is opened; beside that, a command of its own would take as long to look at it. */
const OPENING_MS = 500;

/** Adds the address of handed commands to the resident process's own. */
export function serveCommands(call: Pick<Call, "home" | "dispatch">): Extension {
  return (app, host) => {
    app.post(HAND_OVER_PATH, async (context) => {
      const command = await context.req.json<HandedCommand>();
      return context.json(await run(command, call, host));
    });
  };
}

/** Whatever goes wrong here, the caller finds out for itself and says it in its own words. */
async function run(
  { argv, directory, environment, terminal }: HandedCommand,
  { home, dispatch }: Pick<Call, "home" | "dispatch">,
  host: WorkspaceHost,
): Promise<HandedAnswer> {
  if (SHARED.some((name) => environment[name] !== process.env[name])) return null;
  const texts: SentText[] = [];
  let paged = false;
  try {
    const exit = await dispatch(argv, {
      directory,
      environment,
      createOutput: (options) => {
        paged = options.paged === true;
        return collectOutput(terminal, options, texts);
      },
      host: async (at, { home: itsHome, looks }) => {
        const patienceMs = looks ? OPENING_MS : 0;
        const hosted = itsHome === home ? await host.findOpen(at, { patienceMs }) : undefined;
        if (hosted === undefined || !existsSync(hosted.workspace.root)) throw new Error("not open here");
        return hosted;
      },
    });
    return { exit, texts, paged };
  } catch {
    return null;
  }
}
