/**
 * Hints lead somewhere: for every error code its situation is made, the commands of the hint are typed, and what failed
 * before is looked at again. A code without a situation, or a reason why there is none, does not compile.
 */
import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import {
  createSystem,
  EngineError,
  openWorkspace,
  type BytePath,
  type ErrorCode,
  type Workspace,
} from "@belay/engine";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { CommandErrorName } from "@belay/protocol/errors";
import { reportError } from "../src/call/error-report.ts";
import { LAUNCHER, Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => {
  sandbox = await Sandbox.protected();
});
afterEach(() => sandbox[Symbol.dispose]());

interface Situation {
  /** Makes it; returns the command that fails, or throws the error itself where no command can be made to. */
  make(): readonly string[] | Promise<readonly string[]>;
  /** Where the person is. */
  readonly where?: () => { cwd?: string; before?: readonly string[] };
  /** For what a hint leaves to the person: `<file>`. */
  readonly fill?: Readonly<Record<string, string>>;
  /** Exit codes of the hint's commands that are not 0. */
  readonly exits?: Readonly<Record<string, number>>;
  /** Called when they have been typed, with what each said. */
  readonly leads?: (said: readonly string[], hint: string) => void | Promise<void>;
  /** What the failed command ends with now; it is not typed again when this is left out. */
  readonly again?: number;
}

interface NoSituation {
  readonly because: string;
}

const store = () => sandbox.json(["status"]).store as string;

function inStore(sql: string, path = join(store(), "store.db")): void {
  using database = new DatabaseSync(path);
  database.exec(sql);
}

async function inLibrary<Result>(work: (workspace: Workspace) => Promise<Result>): Promise<Result> {
  await using workspace = await openWorkspace(sandbox.project, { home: sandbox.home });
  return await work(workspace);
}

async function withBigFile(): Promise<void> {
  sandbox.write("large.txt", Array.from({ length: 300_000 }, () => Math.random().toString(36)[2]).join(""));
  await sandbox.checkpoint();
}

/** A merge of this branch waits for a decision about a.txt. */
function conflictWith(branch: string): void {
  sandbox.ok("branch", branch);
  sandbox.write("a.txt", "here\n");
  sandbox.ok("switch", branch);
  sandbox.write("a.txt", "there\n");
  sandbox.ok("switch", "main");
  expect(sandbox.belay(["merge", branch]).status).toBe(3);
}

const ENGINE: Record<ErrorCode, Situation | NoSituation> = {
  WORKSPACE_NOT_FOUND: {
    make: () => {
      mkdirSync(join(sandbox.base, "other"));
      return ["status"];
    },
    where: () => ({ cwd: join(sandbox.base, "other") }),
    again: 0,
  },
  WORKSPACE_REFUSED: {
    make: () => {
      sandbox.write("inner/x", "x\n");
      return ["init"];
    },
    where: () => ({ cwd: sandbox.path("inner") }),
    again: 0,
  },
  WORKSPACE_EMPTIED: {
    make: () => {
      renameSync(sandbox.project, `${sandbox.project}.away`);
      return ["diff"];
    },
    where: () => ({ cwd: sandbox.base, before: ["-C", sandbox.project] }),
    again: 0,
  },
  PATTERN_TOO_SLOW: { because: "takes ten seconds; the time limit has a test of its own" },
  CHECKPOINT_NOT_FOUND: { make: () => ["show", "99"], leads: ([said]) => expect(said).toMatch(/^1 /) },
  CHECKPOINT_AMBIGUOUS: {
    make: async () => {
      for (let times = 0; times < 2; times += 1) await sandbox.checkpoint({ name: "twice" });
      return ["show", "twice"];
    },
    leads: ([said]) => expect(said).toMatch(/^Checkpoint 3 /),
  },
  THREAD_NOT_FOUND: { make: () => ["thread", "nope"] },
  THREAD_AMBIGUOUS: {
    make: async () => {
      await inLibrary(async (workspace) => {
        for (const agent of ["a", "b"]) await workspace.threads.open({ agent, externalId: "same" });
      });
      return ["thread", "same"];
    },
    leads: ([said]) => expect(said).toContain("known as  same"),
  },
  MESSAGE_NOT_FOUND: { because: "told by the forgetting of messages, which has tests of its own" },
  EDIT_NOT_FOUND: {
    make: () => inLibrary(async (workspace) => [JSON.stringify(await workspace.turns.finalizeEdit("nope"))]),
  },
  CHECKPOINT_PROTECTED: {
    make: () =>
      inLibrary(async (workspace) => {
        const { id } = await workspace.threads.open({ agent: "a", externalId: "t" });
        const { approved } = await workspace.approvals.approve(id);
        return [(await workspace.upkeep.deleteCheckpoint(approved)).id];
      }),
    leads: () => expect(sandbox.json(["list", "--kind", "approve"]).checkpoints).toEqual([]),
  },
  CHECKPOINT_IMPORTED: {
    make: () =>
      inLibrary(async (workspace) => {
        const { id } = await workspace.importCheckpoint({
          origin: "test",
          alias: "one",
          kind: "manual",
          description: "one",
          createdAt: 1,
          files: [{ path: "a.txt" as BytePath, kind: "file", mode: 0o644, content: Buffer.from("old\n") }],
          covers: [],
        });
        return ["branch", "idea", "--from", id];
      }),
    leads: () => expect(readFileSync(sandbox.path("a.txt"), "utf8")).toBe("old\n"),
  },
  LIMIT_REACHED: {
    make: async () => {
      const thread = await inLibrary(async (workspace) => {
        const { id } = await workspace.threads.open({ agent: "a", externalId: "t" });
        for (let taken = 0; taken < 50; taken += 1)
          await workspace.checkpoint({ kind: "manual", thread: id });
        return id;
      });
      sandbox.ok("config", "retention.policy", "supervisor");
      return ["checkpoint", "--thread", thread];
    },
    fill: { checkpoint: "@" },
    again: 0,
  },
  RUN_NOT_FOUND: { make: () => ["agents", "show", "nothing"], again: 4 },
  FIX_NOT_FOUND: { make: () => ["fix", "show", "nothing"], again: 4 },
  BRANCH_NOT_FOUND: {
    make: () => {
      sandbox.ok("branch", "gone");
      sandbox.ok("branch", "-d", "gone");
      return ["switch", "gone"];
    },
    fill: { name: "gone" },
    again: 0,
  },
  BRANCH_IN_USE: {
    make: () => {
      sandbox.ok("branch", "idea");
      sandbox.ok("switch", "idea");
      return ["branch", "-d", "idea"];
    },
    fill: { another: "main" },
    again: 0,
  },
  BRANCH_TAKEN: {
    make: () => {
      sandbox.ok("branch", "idea");
      return ["branch", "idea"];
    },
    leads: () =>
      expect(sandbox.json(["branch"]).branches).toMatchObject([{ current: false }, { current: true }]),
  },
  FORK_NOT_FOUND: { make: () => ["fork", "path", "nowhere"], again: 4 },
  FORK_LIMIT: {
    make: () => {
      sandbox.ok("fork", "one");
      sandbox.ok("config", "forks.limit", "1");
      return ["fork", "two"];
    },
    fill: { name: "one" },
    again: 0,
  },
  FORK_BUSY: {
    make: async () => {
      sandbox.ok("fork", "one");
      await inLibrary(async (workspace) => {
        await using fork = await workspace.openFork("one");
        const { id } = await fork.threads.open({ agent: "a", externalId: "t" });
        await fork.turns.prompt(id, { content: "go" });
        await fork.turns.beginTool(id, { tool: "Edit", toolUseId: "u-1", nature: "edit" });
      });
      return ["fork", "remove", "one"];
    },
  },
  FORK_UNCAPTURED: {
    make: () => {
      sandbox.ok("fork", "one");
      sandbox.ok("config", "limits.fileBytes", "1KiB");
      const { path } = sandbox.json(["fork", "path", "one"]) as { path: string };
      writeFileSync(join(path, "large"), "x".repeat(5000));
      return ["fork", "remove", "one"];
    },
  },
  MERGE_NOT_FOUND: { make: () => ["merge", "--continue"] },
  CONFLICT_NOT_FOUND: { make: () => ["resolve", "a.txt", "--take", "ours"] },
  CONFLICT_AMBIGUOUS: {
    make: () => {
      const names = ["idea", "other"];
      for (const name of names) sandbox.ok("branch", name);
      sandbox.write("a.txt", "here\n");
      for (const name of names) {
        sandbox.ok("switch", name);
        sandbox.write("a.txt", `by ${name}\n`);
        sandbox.ok("switch", "main");
        expect(sandbox.belay(["merge", name]).status).toBe(3);
      }
      return ["resolve", "a.txt", "--take", "ours"];
    },
    leads: ([shown]) => expect(shown).toContain("options: ours, theirs"),
  },
  MERGE_OPEN: {
    make: () => {
      conflictWith("idea");
      return ["merge", "idea"];
    },
    again: 3,
  },
  CHECK_FAILED: {
    make: () => {
      sandbox.ok("branch", "idea");
      sandbox.ok("switch", "idea");
      sandbox.write("idea.txt", "there\n");
      sandbox.ok("switch", "main");
      return ["merge", "idea", "--check", "test -e nothing", "--yes"];
    },
    again: 3,
  },
  ANSWER_REFUSED: {
    make: () => {
      conflictWith("idea");
      return ["resolve", "a.txt", "--take", "delete"];
    },
    fill: { conflict: "a.txt" },
    leads: ([shown]) => expect(shown).toContain("options: ours, theirs"),
  },
  BRANCH_NAME_INVALID: { make: () => ["branch", "a b"] },
  RUN_ALIVE: {
    make: async () => {
      sandbox.ok("branch", "idea");
      await inLibrary(async (workspace) => {
        const { id } = await workspace.threads.open({ agent: "a", externalId: "t" });
        await workspace.turns.prompt(id, { content: "go" });
        await workspace.turns.beginTool(id, { tool: "Edit", toolUseId: "u-1", nature: "edit" });
      });
      return ["switch", "idea"];
    },
    leads: () => void sandbox.ok("switch", "idea", "--yes"),
  },
  NAME_TAKEN: {
    make: async () => {
      await sandbox.checkpoint({ tags: ["my tag"] });
      return ["tag", "1", "my tag"];
    },
    again: 0,
  },
  NAME_INVALID: {
    make: () => ["checkpoint", "-m", "@12"],
    leads: (_, hint) => void sandbox.ok("checkpoint", "-m", /^Try "(.+?)"/.exec(hint)![1]!),
  },
  PATH_OUTSIDE: {
    make: () => ["diff", "--", "../x"],
    leads: ([said]) => expect(said).toContain(sandbox.project),
  },
  PATH_NOT_IN_CHECKPOINT: {
    make: async () => {
      sandbox.write("my notes.txt", "later\n");
      await sandbox.checkpoint();
      sandbox.remove("my notes.txt");
      await sandbox.checkpoint();
      return ["restore", "1", "my notes.txt"];
    },
    leads: ([said]) => expect(said).toMatch(/^2 /m),
  },
  OBJECT_CORRUPT: {
    make: async () => {
      await withBigFile();
      inStore(`UPDATE pack SET data = CAST(substr(data, 1, 5000) || x'0badbadbad' || substr(data, 5006) AS BLOB)
        WHERE id = (SELECT pack FROM object WHERE size = 300000)`);
      return ["export", "2", "--tar", "x.tar"];
    },
    exits: { verify: 5 },
    leads: ([said]) => expect(said).toContain("affects"),
  },
  OBJECT_MISSING: {
    make: async () => {
      await withBigFile();
      inStore("DELETE FROM object WHERE size = 300000");
      return ["export", "2", "--tar", "x.tar"];
    },
    exits: { verify: 5 },
    leads: ([said]) => expect(said).toContain("affects"),
  },
  STORE_CORRUPT: {
    make: () => {
      const path = join(store(), "store.db");
      writeFileSync(path, Buffer.alloc(statSync(path).size, "nonsense"));
      return ["list"];
    },
    exits: { doctor: 1 },
    again: 0,
  },
  STORE_MISSING: {
    make: () => {
      rmSync(store(), { recursive: true });
      return ["list"];
    },
    again: 0,
  },
  STORE_REPLACED: { because: "a race: the file is exchanged between two commits of one command" },
  STORE_READ_ONLY: { because: "needs a medium that root cannot write to; the engine's tests have one" },
  STORE_UNSAFE: {
    make: () => {
      chmodSync(sandbox.home, 0o777);
      return ["list"];
    },
    again: 0,
  },
  STORE_BUSY: {
    make: () => {
      throw new EngineError("STORE_BUSY", "The store is busy.", { store: "" });
    },
  },
  STORE_FULL: {
    make: async () => {
      sandbox.ok("config", "disk.capBytes", "1MiB");
      sandbox.write("large.bin", "");
      writeFileSync(
        sandbox.path("large.bin"),
        Buffer.from(Array.from({ length: 3 << 20 }, () => Math.random() * 256)),
      );
      return ["checkpoint"];
    },
    again: 0,
  },
  DISK_FULL: { because: "needs a full disk; the torture suite has one" },
  PURGE_UNFINISHED: { because: "needs a full disk; the torture suite has one" },
  STORE_NEWER: {
    make: () => {
      inStore("PRAGMA user_version = 999");
      return ["list"];
    },
  },
  SQLITE_TOO_OLD: { because: "depends on the Node that runs it" },
  INTERRUPTED: { because: "needs Ctrl-C in time; its own tests have it" },
  RESTORE_RUNNING: {
    make: () => {
      const { pid, started, boot } = createSystem().owner;
      sandbox.write("a.txt", "changed\n");
      inStore(`INSERT INTO lease (id, kind, pid, started, boot, since, first_pack)
        VALUES ('kkkkkkkkkkkkkkkk', 'restore', ${pid}, '${started}', '${boot}', ${Date.now()}, 1)`);
      return ["restore", "1", "--yes"];
    },
    leads: () => inStore("DELETE FROM lease"),
    again: 0,
  },
  RECOVERY_BLOCKED: {
    make: () => {
      sandbox.write("a.txt", "changed\n");
      const facts = { operation: "kkkkkkkkkkkkkkkk", paths: ["a.txt"], before: 1 };
      throw new EngineError("RECOVERY_BLOCKED", "An interrupted restore was found.", facts);
    },
    leads: () => expect(sandbox.read("a.txt")).toBe("one\n"),
  },
  PREFLIGHT_FAILED: { because: "root may do everything; the engine's tests run without its rights" },
  PLAN_STALE: { because: "the hint is to run the command again" },
  STEPS_MISSING: {
    make: () => {
      sandbox.ok("run", "--", "touch", "new.txt");
      return ["undo", "3"];
    },
    leads: (_, hint) => void sandbox.ok("undo", /at most (\d+)/.exec(hint)![1]!),
  },
  CONTENT_PRUNED: {
    make: () => {
      sandbox.write("a.txt", "changed\n");
      const facts = { step: "s", description: "a turn", checkpoint: "1" };
      throw new EngineError("CONTENT_PRUNED", "It can no longer be undone.", facts);
    },
    fill: { checkpoint: "1" },
    leads: () => expect(sandbox.read("a.txt")).toBe("one\n"),
  },
  CONFIG_INVALID: {
    make: () => ["config", "disk.capBytes", "nonsense"],
    leads: ([said]) => expect(said).toContain("disk.capBytes"),
  },
  FILE_SYSTEM: { because: "the hint is to look at the path" },
};

/** What a command refuses by itself, and the engine's codes that it uses too. */
type CommandCode = CommandErrorName | "THREAD_NOT_FOUND" | "PATH_OUTSIDE" | "PATH_NOT_IN_CHECKPOINT";

const COMMAND: Record<CommandCode, Situation | NoSituation> = {
  USAGE: { make: () => ["lsit"], leads: ([said]) => expect(said).toMatch(/^1 /) },
  CONFIRMATION_REQUIRED: {
    make: () => {
      sandbox.write("a.txt", "changed\n");
      sandbox.remove("src/b.txt");
      return ["restore", "1"];
    },
    leads: (_, hint) => {
      expect(hint).toContain("--yes");
      sandbox.ok("restore", "1", "--yes");
    },
  },
  THREAD_NOT_FOUND: { make: () => ["approve"], fill: { agent: "true" }, again: 0 },
  PATH_OUTSIDE: { make: () => ["restore", "1", "/etc/passwd"] },
  PATH_NOT_IN_CHECKPOINT: {
    make: () => ["forget", "never-there"],
    leads: ([said]) => expect(said).toContain("Nothing found"),
  },
  PATH_NOT_KEPT_OUT: {
    make: () => ["forget", "--always", "--undo", "a.txt"],
    leads: ([said]) => expect(said).toContain(sandbox.project),
  },
  CONVERSATION_NOT_FORKED: { because: "needs an agent's transcript; its own tests have one" },
  NO_PARENT: { make: () => ["export", "1", "--patch"], fill: { file: "all.tar" } },
  NOTHING_TO_IMPORT: {
    make: () => ["import", "src"],
    leads: ([said]) => expect(said).toContain("moldable"),
  },
  AGENT_NOT_FOUND: { because: "the hint is to name another agent or a command" },
  OUTPUT_EXISTS: {
    make: () => {
      sandbox.ok("run", "--", "touch", "new.txt");
      return ["export", "--thread", sandbox.json(["threads"]).threads[0].id, "--git", "."];
    },
    leads: (_, hint) => expect(hint).toContain("does not exist yet"),
  },
  OUTPUT_FAILED: { because: "the hint is to write elsewhere" },
  RESIDENT_FAILED: { because: "the hint names its log" },
  RESIDENT_RUNNING: { because: "needs a second user of the port; its own tests have one" },
  GHOST_IMPOSSIBLE: { make: () => ["ghost", "create"], leads: ([said]) => expect(said).toMatch(/^1 /) },
  INTERNAL: { because: "a mistake in Belay has no way out but to report it" },
  PAUSED_EVERYWHERE: {
    make: () => {
      sandbox.ok("pause", "--all");
      return ["resume"];
    },
    leads: () => expect(sandbox.json(["status"]).capture).toBeDefined(),
  },
};

describe.each([
  ["the engine", ENGINE],
  ["a command", COMMAND],
] as const)("[R188] the hint of an error of %s leads out", (_, situations) => {
  for (const [code, situation] of Object.entries(situations)) {
    if ("because" in situation) continue;
    test(code, async () => {
      expect((await follow(situation)).code).toBe(code);
    });
  }
});

async function follow(situation: Situation): Promise<Failed["error"]> {
  const { error, args } = await failed(situation);
  const commands = [...error.hint.matchAll(/`(.+?)`/g)].map((match) => match[1]!);
  const said = commands.map((command) => typed(command, situation));
  await situation.leads?.(said, error.hint);
  if (situation.again !== undefined) {
    const ran = belay(args, situation);
    expect(ran.status, ran.stdout + ran.stderr).toBe(situation.again);
  }
  return error;
}

interface Failed {
  readonly error: { readonly code: string; readonly message: string; readonly hint: string };
  readonly args: readonly string[];
}

async function failed(situation: Situation): Promise<Failed> {
  let args: readonly string[];
  try {
    args = await situation.make();
  } catch (error) {
    return { error: reportError(error), args: [] };
  }
  const ran = belay(["--json", ...args], situation);
  expect(ran.status, ran.stdout + ran.stderr).not.toBe(0);
  return { error: JSON.parse(ran.stdout).error, args };
}

function belay(args: readonly string[], { where }: Situation) {
  const { cwd, before = [] } = where?.() ?? {};
  return sandbox.belay([...before, ...args], cwd === undefined ? {} : { cwd });
}

/** These ask a person, and a test is none. */
const ASKING = /^belay (?:-C \S+ )?(?:restore|forget|uninstall|prune|gc)\b/;

/** Types a command as it stands in a hint, `<…>` filled in. */
function typed(hinted: string, { where, fill = {}, exits = {} }: Situation): string {
  const { cwd = sandbox.project, before = [] } = where?.() ?? {};
  const command = hinted.replaceAll(/<(\w+)>/g, (whole, name: string) => fill[name] ?? whole);
  const line = `belay() { '${process.execPath}' '${LAUNCHER}' ${before.join(" ")} "$@"; }; ${command}${ASKING.test(command) ? " --yes" : ""}`;
  const ran = spawnSync("sh", ["-c", line], { cwd, env: sandbox.environment, encoding: "utf8" });
  const verb = command.split(" ")[1] ?? "";
  expect(ran.status, `${command}\n${ran.stdout}${ran.stderr}`).toBe(exits[verb] ?? 0);
  return ran.stdout;
}
