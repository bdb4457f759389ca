/**
 * The workspace as the screens see it: through the resident process where there is one, else through the same
 * application in this process. Either way the screens speak the protocol.
 */
import { realpathSync } from "node:fs";
import { basename } from "node:path";
import { BelayClient, bodyPieces, readEvents, routePath, type Transport } from "@belay/protocol/client";
import { RunDirectory, streamFromSocket } from "@belay/server/resident";
import type { Connection, Place } from "@belay/tui";
import { innermostRoot } from "../call/innermost-root.ts";
import { connectToAgents } from "../agents/connect-to-agents.ts";
import type { Call } from "../call/command.ts";
import { ResidentProcess } from "../resident/resident-process.ts";
import { readBuild } from "../version.ts";
import { commandProcess } from "../resident/command-process.ts";
import { openSyntax } from "./open-syntax.ts";
import { screenMemory } from "./screen-memory.ts";

/** Longer than any plan takes; a restore is awaited as long as it runs. */
const PATIENCE_MS = 10 * 60_000;
/** After the first rows: a process that starts beside them competes for the processor. */
const START_MS = 700;

/** Undefined when this directory is not protected. */
export async function findPlace(
  call: Pick<Call, "directory" | "home">,
): Promise<{ readonly place: Place; readonly client: BelayClient } | undefined> {
  const first = await connect(call);
  const { workspaces } = await first.client.call("GET /api/workspaces");
  const roots = workspaces.map(({ path }) => path);
  const root = innermostRoot(roots, existing(call.directory));
  if (root === undefined) {
    await first[Symbol.asyncDispose]();
    return undefined;
  }
  let unused: Connection | undefined = first;
  const place: Place = {
    workspace: root,
    name: basename(root),
    clock: Date.now,
    expectsResident: process.env["BELAY_RESIDENT"] !== "off",
    memory: screenMemory(call.home),
    connect: async () => {
      const connection = unused ?? (await connect(call));
      unused = undefined;
      if (connection.by === "store") startLater(call.home, root);
      return connection;
    },
  };
  return { place, client: first.client };
}

async function connect({ home }: Pick<Call, "home">): Promise<Connection> {
  return (await connectToResident(home)) ?? (await connectToStore(home));
}

/** Undefined when there is none of this build that answers. */
async function connectToResident(home: string): Promise<Connection | undefined> {
  try {
    const client = new ResidentProcess(home).client(PATIENCE_MS);
    if (client === undefined) return undefined;
    await client.call("GET /api/resident");
    const { socket } = new RunDirectory(home);
    return {
      by: "resident",
      client,
      events: (workspace, signal) =>
        readEvents(streamFromSocket(socket, routePath("GET /api/events", { query: { workspace } }), signal)),
      [Symbol.asyncDispose]: () => Promise.resolve(),
    };
  } catch {
    return undefined;
  }
}

async function connectToStore(home: string): Promise<Connection> {
  const { createLocalApp } = await import("@belay/server");
  const app = createLocalApp({
    home,
    version: readBuild(),
    command: commandProcess(home),
    opened: (workspace) => {
      connectToAgents(home, workspace);
      workspace.parseWith(openSyntax);
    },
    syntax: openSyntax,
    mergePrograms: async ({ id }) => (await import("./served-programs.ts")).servedPrograms(home, id),
    fork: async (workspace, request) => {
      const { forkConversation } = await import("../agents/fork-conversation.ts");
      return forkConversation({ home, workspace, ...request });
    },
  });
  const transport: Transport = async ({ method, path, body }) => {
    const headers = { "content-type": "application/json" };
    const answer = await app.fetch(
      new Request(`http://belay${path}`, body === undefined ? { method } : { method, body, headers }),
    );
    return { status: answer.status, body: await answer.text() };
  };
  return {
    by: "store",
    client: new BelayClient(transport),
    async *events(workspace, signal) {
      const path = routePath("GET /api/events", { query: { workspace } });
      const answer = await app.fetch(new Request(`http://belay${path}`));
      if (answer.body !== null) yield* readEvents(bodyPieces(answer.body, signal));
    },
    [Symbol.asyncDispose]: () => app[Symbol.asyncDispose](),
  };
}

let isStarted = false;

/** Starts a resident process for the screens to change over to; once, and not where it keeps crashing. */
function startLater(home: string, directory: string): void {
  if (isStarted || process.env["BELAY_RESIDENT"] === "off") return;
  isStarted = true;
  setTimeout(() => {
    try {
      const resident = new ResidentProcess(home);
      if (!resident.keepsDying) resident.launch(["--open", directory]);
    } catch {
      // the screens go on with the store
    }
  }, START_MS).unref();
}

/** Its real path; a project that was deleted is looked at by its name. */
function existing(directory: string): string {
  try {
    return realpathSync(directory);
  } catch {
    return directory;
  }
}
