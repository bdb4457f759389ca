/** One kind of work in a process of its own, to be killed. Prints what came of it as one line of JSON. */
import { randomBytes } from "node:crypto";
import { findWorkspace, receiveWorkspace, type Workspace } from "@belay/engine";
import { offerHandoff } from "../../src/share/handoff.ts";
import { openShares } from "../../src/share/shares.ts";
import { cloneLine } from "../../src/sync/clone-line.ts";
import { openExchange } from "../../src/sync/remote.ts";
import type { RemoteHost } from "../../src/sync/remote-host.ts";
import { KillServerStore } from "./kill-server.ts";

/** What the process is told. */
export interface ChildTask {
  readonly work: "push" | "pull" | "sync" | "fetch" | "clone" | "share" | "handoff";
  readonly home: string;
  readonly root: string;
  readonly endpoint: string;
  readonly user: string;
  /** Of a fetch. */
  readonly reference?: string;
  /** Of a clone. */
  readonly recoveryKey?: string;
  readonly line?: string;
  /** Of a handoff. */
  readonly thread?: string;
}

const task = JSON.parse(process.argv[2]!) as ChildTask;
const { home, root, endpoint, user } = task;
const host: RemoteHost = {
  home,
  device: `${user}-laptop`,
  user,
  around: { now: Date.now, random: randomBytes, sleep: async () => undefined },
  connect: () => new KillServerStore(endpoint),
};

async function run(): Promise<unknown> {
  if (task.work === "clone") return clone();
  const workspace = await findWorkspace(root, { home });
  try {
    return await WORK[task.work](workspace);
  } finally {
    await workspace.close();
  }
}

const WORK = {
  push: (workspace: Workspace) => withRemote(workspace, (remote) => remote.push()),
  pull: (workspace: Workspace) => withRemote(workspace, (remote) => remote.pull()),
  sync: (workspace: Workspace) =>
    withRemote(workspace, async (remote) => {
      await remote.push();
      await remote.pull();
    }),
  fetch: (workspace: Workspace) => withRemote(workspace, (remote) => remote.fetch(task.reference!)),
  share: async (workspace: Workspace) => {
    const [checkpoint] = await workspace.list({ limit: 1 });
    const shares = openShares(workspace, undefined, host);
    return (await shares.byLink({ checkpoint: checkpoint!, paths: [], ttlMs: 600_000 })).link;
  },
  handoff: async (workspace: Workspace) => {
    const thread = (await workspace.threads.list()).find(({ id }) => id === task.thread)!;
    const { checkpoint } = await workspace.checkpoint({ thread: thread.id });
    const messages = [{ role: "user", content: "go on", externalId: null, createdAt: 1 }];
    const offer = { thread, checkpoint: checkpoint.id, cwd: "/", messages, transcript: null };
    return offerHandoff(workspace, { name: undefined, offer }, host);
  },
};

async function withRemote(
  workspace: Workspace,
  work: (remote: ReturnType<typeof openExchange>) => Promise<unknown>,
): Promise<void> {
  using remote = openExchange(workspace, undefined, host);
  await work(remote);
}

async function clone(): Promise<boolean> {
  const { recoveryKey, line } = task;
  const request = { url: "s3://bucket/team", name: "team", directory: root, recoveryKey, line };
  const cloned = await cloneLine(request, host, (fill) =>
    receiveWorkspace(root, fill, { home, withFiles: true }),
  );
  if (!cloned.hasFiles) await cloned.workspace.restoreTo("@");
  await cloned.workspace.close();
  return cloned.hasFiles;
}

process.stdout.write(`${JSON.stringify((await run()) ?? null)}\n`);
