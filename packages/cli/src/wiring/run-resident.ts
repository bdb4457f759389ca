/** Runs the resident process in this very process, until it ends. */
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { startResident, type ResidentOptions } from "@belay/server";
import type { ResidentFacts } from "@belay/server/resident";
import { refreshHook } from "../agents/agent-hooks.ts";
import { captureJson, captureState } from "../agents/capture-state.ts";
import { connectToAgents } from "../agents/connect-to-agents.ts";
import { createHookService } from "../agents/serve-hooks.ts";
import type { Call } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { DesktopNotices } from "../notices/desktop-notices.ts";
import { BackgroundSync } from "../resident/background-sync.ts";
import { TimedCheckpoints } from "../resident/timed-checkpoints.ts";
import { backgroundCommand, commandProcess } from "../resident/command-process.ts";
import { serveCommands } from "../resident/serve-commands.ts";
import {
  findInFiles,
  followIndex,
  indexFiles,
  indexState,
  indexedFiles,
  removeFiles,
  syncIndex,
} from "../search-index/workspace-indexes.ts";
import { openSyntax } from "./open-syntax.ts";
import { readBuild } from "../version.ts";

/** Where the built page is: beside the command. Without one, only the API is served. */
function pageOption(): { readonly page?: string } {
  const page = fileURLToPath(new URL("./page", import.meta.url));
  return existsSync(page) ? { page } : {};
}

function searchService(home: string): NonNullable<ResidentOptions["search"]> {
  return {
    find: async (workspace, question) => {
      const { hits, ...rest } = await findInFiles(home, workspace, question);
      return { hits: [...hits], ...rest };
    },
    state: (workspace) => indexState(home, workspace),
    files: (workspace) => indexedFiles(home, workspace),
    index: (workspace, wanted) => indexFiles(home, workspace, wanted),
    remove: (workspace, paths) => removeFiles(home, workspace, paths),
    sync: (workspace) => syncIndex(home, workspace),
  };
}

/** Undefined when another one is running already. */
export async function runResident(
  call: Pick<Call, "home" | "dispatch">,
  options: Pick<ResidentOptions, "ports" | "foreground" | "directory"> & {
    readonly open?: string | undefined;
  },
  ready: (facts: ResidentFacts) => void,
): Promise<number | undefined> {
  // before agents can find the process
  refreshHook(call.home);
  using notices = new DesktopNotices({ home: call.home, platform: process.platform, clock: Date.now });
  using sync = new BackgroundSync({
    home: call.home,
    clock: Date.now,
    run: backgroundCommand(call.home),
  });
  using timed = new TimedCheckpoints({ home: call.home, clock: Date.now });
  const resident = await startResident({
    ...options,
    home: call.home,
    version: readBuild(),
    ...pageOption(),
    hooks: (host) => createHookService(call.home, host, notices),
    extend: (app, host) => {
      serveCommands(call)(app, host);
      if (options.open !== undefined) host.openSoon(options.open);
    },
    command: commandProcess(call.home),
    opened: (workspace) => {
      connectToAgents(call.home, workspace);
      workspace.parseWith(openSyntax);
      notices.follow(workspace);
      sync.follow(workspace);
      timed.follow(workspace);
      followIndex(call.home, workspace).catch(() => undefined);
    },
    search: searchService(call.home),
    moldable: async (command, args) => {
      const [{ configureDropIn }, { invoke }] = await Promise.all([
        import("@belay/drop-in"),
        import("@belay/drop-in/moldable"),
      ]);
      configureDropIn({ home: call.home });
      return invoke(command, args);
    },
    fork: async (workspace, request) => {
      const { forkConversation } = await import("../agents/fork-conversation.ts");
      return forkConversation({ home: call.home, workspace, ...request });
    },
    syntax: openSyntax,
    mergePrograms: async ({ id }) => (await import("./served-programs.ts")).servedPrograms(call.home, id),
    capture: async (workspace) => {
      const about = { home: call.home, directory: workspace.root, workspace, environment: process.env };
      return captureJson(await captureState({ ...about, how: "quick" }));
    },
  });
  if (resident === undefined) return undefined;
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, () => resident.stop());
  ready(resident.facts);
  await resident.ended;
  return EXIT.done;
}
