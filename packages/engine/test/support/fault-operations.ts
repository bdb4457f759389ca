/** What faults are tried on: each operation once, on a workspace that was prepared for it. */
import { join } from "node:path";
import {
  createSystem,
  listWorkspaces,
  openWorkspace,
  type MergePrograms,
  type Workspace,
} from "../../src/index.ts";
import { converse } from "./fault-conversation.ts";
import { openDatabase } from "../../src/store/database.ts";
import { STORE_MIGRATIONS } from "../../src/store/schema.ts";

export interface Place {
  readonly root: string;
  readonly home: string;
}

/** The result of an operation as its caller receives it, and what was reported before. */
export type Said = { readonly told: readonly string[] } & (
  | { readonly done: true; readonly outcome: unknown }
  | { readonly done: false; readonly name: string; readonly code: string; readonly message: string }
);

const DROP_ALL = { name: "none", keepAllHours: 0, keepTurnsHours: 0, keepMinimum: 0, keepMaximum: 0 };

/** A check that looks at the result of a merge in a scratch copy, and has nothing against it. */
export const PASSES: MergePrograms = {
  check: async () => ({ command: ["true"], exitCode: 0, durationMs: 0, output: "" }),
};

/** The name of the fork that is made and removed. */
export const MADE_FORK = "made";

/** The name of the fork whose files the next one takes over. */
export const SPARE_FORK = "spare";

const OPERATIONS = {
  open: async ({ notices }) => notices.join(" "),
  create: async (workspace) => void (await workspace.checkpoint()),
  restore: async (workspace) => (await workspace.restoreTo("1")).outcome,
  undo: async (workspace) => (await workspace.undo()).outcome,
  redo: async (workspace) => (await workspace.redo()).outcome,
  switch: async (workspace) => (await workspace.restore(await workspace.planSwitch("other"))).outcome,
  fork: async (workspace) => (await workspace.fork(MADE_FORK)).state,
  /** The fork in the trash is spare by now, and the new one takes over its files. */
  async takeover(workspace, { passHours }) {
    passHours(25);
    return (await workspace.fork(MADE_FORK)).method;
  },
  unfork: async (workspace) => (await workspace.removeFork(MADE_FORK, { now: true })).fork.state,
  merge: async (workspace) => (await workspace.merge(await workspace.planMerge(["work"]))).outcome,
  check: async (workspace) =>
    (await workspace.merge(await workspace.planMerge(["work"], { programs: PASSES }))).outcome,
  async resolve(workspace) {
    const held = await workspace.merge(await workspace.planMerge(["clash"]));
    for (const { id, options } of held.merge.conflicts)
      await workspace.resolve(id, { take: options.includes("theirs") ? "theirs" : options[0]! });
    return held.merge.state === "applied"
      ? held.outcome
      : (await workspace.merge(await workspace.merges.planRest(held.merge.id))).outcome;
  },
  approve: async (workspace) =>
    void (await workspace.approvals.approve((await workspace.threads.list())[0]!.id)),
  reset: async (workspace) =>
    (await workspace.approvals.reset((await workspace.threads.list())[0]!.id)).outcome,
  prune: async (workspace) => void (await workspace.upkeep.prune({ policy: DROP_ALL })),
  async gc(workspace, { passHours }) {
    await workspace.upkeep.prune({ policy: DROP_ALL });
    passHours(25);
    await workspace.upkeep.gc();
  },
  forget: async (workspace) => void (await workspace.upkeep.forget("edited")),
  converse: (workspace, { tell }) => converse(workspace, "first", tell),
} as const satisfies Record<string, (workspace: Workspace, world: World) => Promise<unknown>>;

interface World {
  readonly passHours: (hours: number) => void;
  readonly tell: (what: string) => void;
}

export type Operation = keyof typeof OPERATIONS | "migrate";

/** Carries an operation out and tells what came of it; `forgotten`: as a process that is dead to all others. */
export async function carryOut(
  operation: Operation,
  { root, home }: Place,
  { forgotten }: { readonly forgotten: boolean },
): Promise<Said> {
  const system = createSystem();
  let hours = 0;
  const told: string[] = [];
  let workspace: Workspace | undefined;
  try {
    if (operation === "migrate") return { done: true, told, outcome: await migrate({ root, home }) };
    const now = () => system.now() + hours * 3_600_000;
    const owner = forgotten ? { ...system.owner, pid: NOBODY } : system.owner;
    workspace = await openWorkspace(root, { home, system: { ...system, now, owner } });
    const world = { passHours: (more: number) => (hours += more), tell: (what: string) => told.push(what) };
    return { done: true, told, outcome: await OPERATIONS[operation](workspace, world) };
  } catch (error) {
    const { name, message, code } = error as NodeJS.ErrnoException;
    return { done: false, told, name, code: code ?? "", message };
  } finally {
    // what was said stays true even if the store cannot be closed
    await workspace?.close().catch(() => undefined);
  }
}

/** Larger than any process number. */
const NOBODY = 2 ** 30;

const NEXT_VERSION = "CREATE TABLE torture (id INTEGER PRIMARY KEY); INSERT INTO torture VALUES (1), (2);";

/** Brings the store to a version that does not exist. */
async function migrate(place: Place): Promise<void> {
  openDatabase((await storeFile(place)) as never, {
    migrations: [...STORE_MIGRATIONS, NEXT_VERSION],
    create: false,
  }).close();
}

/** Takes a migration back; false when there was none, an error when there was half of one. */
export async function unmigrate(place: Place): Promise<boolean> {
  const { DatabaseSync } = await import("node:sqlite");
  using db = new DatabaseSync(await storeFile(place));
  const version = Number(db.prepare("PRAGMA user_version").get()!["user_version"]);
  const found = db.prepare("SELECT name FROM sqlite_schema WHERE name = 'torture'").all().length;
  const rows = found === 0 ? 0 : db.prepare("SELECT * FROM torture").all().length;
  if (version === STORE_MIGRATIONS.length && found === 0) return false;
  if (version !== STORE_MIGRATIONS.length + 1 || rows !== 2)
    throw new Error(`version ${version}, ${rows} rows`);
  db.exec(`BEGIN; DROP TABLE torture; PRAGMA user_version = ${STORE_MIGRATIONS.length}; COMMIT`);
  return true;
}

async function storeFile({ home }: Place): Promise<string> {
  const [known] = await listWorkspaces({ home });
  return join(known!.store, "store.db");
}
