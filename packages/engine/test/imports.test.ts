/** Checkpoints that other programs made: taken over, found, restored; never mistaken for the present. */
import { chmodSync, mkdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { BytePath, ImportedFile, ImportRequest, ThreadImport } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const path = (text: string) => text as BytePath;

function file(name: string, content: string, mode = 0o644): ImportedFile {
  return { path: path(name), kind: "file", mode, content: Buffer.from(content) };
}

function request(
  alias: string,
  files: readonly ImportedFile[],
  more: Partial<ImportRequest> = {},
): ImportRequest {
  return {
    origin: "other",
    alias,
    kind: "message",
    description: `state ${alias}`,
    createdAt: Date.UTC(2025, 0, 1),
    files,
    covers: files.map((each) => each.path),
    ...more,
  };
}

/** Two sessions, the first approved; four states of two files. */
const CONVERSATION: ThreadImport = {
  origin: "other",
  agent: "dialogs",
  externalId: "d1",
  title: "Add tests",
  createdAt: Date.UTC(2025, 0, 1),
  updatedAt: Date.UTC(2025, 0, 2),
  checkpoints: ["one", "two", "three"].map((alias, at) => ({
    ...request(alias, [file("a", `${alias}\n`), ...(at === 1 ? [file("only/two", "2\n")] : [])]),
    covers: [path("a"), path("only/two")],
    session: at < 2 ? "session_1" : "session_2",
    messageId: `m${at}`,
    ...(at === 0 ? {} : { parent: { alias: ["one", "two"][at - 1]! } }),
  })),
  messages: ["one", "two", "three"].flatMap((alias, at) => [
    {
      role: "user" as const,
      content: `do ${alias}`,
      externalId: `m${at}`,
      checkpoint: alias,
      createdAt: Date.UTC(2025, 0, 1, at),
      session: at < 2 ? ("session_1" as const) : ("session_2" as const),
    },
    { role: "assistant" as const, content: `did ${alias}`, createdAt: Date.UTC(2025, 0, 1, at, 1) },
  ]),
  sessions: [
    {
      name: "session_1",
      status: "merged",
      createdAt: Date.UTC(2025, 0, 1),
      closedAt: Date.UTC(2025, 0, 1, 2),
      base: "one",
      approved: "two",
      message: "fine",
    },
    {
      name: "session_2",
      status: "active",
      createdAt: Date.UTC(2025, 0, 1, 2),
      closedAt: null,
      base: "two",
      approved: null,
      message: null,
    },
  ],
};

const names = ({ workspace }: TempWorkspace, options = {}) =>
  workspace.list(options).then((list) => list.map(({ description }) => description));

describe("[R371] what was captured elsewhere is never the newest checkpoint", () => {
  test(
    "`@`, lists, times, attribution, undo and the next capture go by what was captured here",
    inWorkspace({ a: "1\n", b: "1\n" }, async (temp) => {
      const { workspace } = temp;
      await temp.turn("t1", () => temp.write("a", "2\n"));
      const [newest, ...older] = await workspace.list();
      const imported = await workspace.importCheckpoint(
        request("one", [file("a", "old\n"), file("z", "z\n")]),
      );
      expect(imported).toMatchObject({ origin: "other", branch: null, fork: null, parents: [] });
      expect(imported.seq).toBeGreaterThan(newest!.seq);
      expect(await workspace.resolve("@")).toMatchObject({ id: newest!.id });
      expect(await workspace.resolve("@-1")).toMatchObject({ id: older[0]!.id });
      expect(await names(temp)).toEqual([newest!, ...older].map(({ description }) => description));
      expect(await workspace.diff({ detail: "names" })).toMatchObject({ from: newest!.id, files: [] });
      const { changedFiles } = await workspace.status();
      expect(changedFiles).toEqual([]);
      const taken = await workspace.checkpoint();
      expect(taken).toMatchObject({
        unchanged: true,
        checkpoint: { parents: [newest!.id], changes: { added: 0 } },
      });
      expect(await workspace.undo()).toMatchObject({ outcome: "applied" });
      expect(temp.read("a")).toBe("1\n");
      expect((await workspace.branches())[0]).toMatchObject({ name: "main" });
    }),
  );

  test(
    "pending work of its thread is compared with what was captured here, and approval goes on from there",
    inWorkspace({ a: "1\n" }, async (temp) => {
      const { workspace } = temp;
      const { thread } = await workspace.importThread(CONVERSATION);
      expect(await workspace.approvals.session(thread)).toMatchObject({
        hasUnapproved: false,
        session: "session_2",
      });
      await temp.turn("more", () => temp.write("a", "2\n"), thread);
      const pending = await workspace.approvals.session(thread);
      expect(pending.changedFiles.map((each) => each.path)).toEqual(["a"]);
      expect(await workspace.approvals.reset(thread)).toMatchObject({ outcome: "applied" });
      expect(temp.read("a")).toBe("1\n");
    }),
  );

  test(
    "[R371] no branch begins with it",
    inWorkspace({ a: "1\n" }, async ({ workspace }) => {
      const { id } = await workspace.importCheckpoint(request("one", [file("a", "old\n")]));
      await expect(workspace.createBranch("x", { from: id })).rejects.toMatchObject({
        code: "CHECKPOINT_IMPORTED",
      });
      expect(await workspace.branches()).toHaveLength(1);
    }),
  );
});

describe("[R370] an imported checkpoint deletes only what its import knew", () => {
  test(
    "[N6] a path that another checkpoint of the import had goes; one that no checkpoint of it knew stays, and so do modes of directories",
    inWorkspace(
      { a: "1\n", "only/two": "2\n", "only/mine": "mine\n", "src/mine.ts": "mine\n" },
      async (temp) => {
        const { workspace, root } = temp;
        chmodSync(join(root, "only"), 0o700);
        await workspace.importThread(CONVERSATION);
        const plan = await workspace.planRestore("one");
        expect(plan.edits.map((edit) => [String(edit.path), edit.to?.kind])).toEqual([
          ["a", "file"],
          ["only/two", undefined],
        ]);
        expect(await workspace.restore(plan)).toMatchObject({ outcome: "applied", deleted: 1, modified: 1 });
        expect([...temp.tree().keys()]).toEqual(["a", "only", "only/mine", "src", "src/mine.ts"]);
        expect(temp.read("a")).toBe("one\n");
        expect(await workspace.restoreTo("two")).toMatchObject({ outcome: "applied" });
        expect(temp.read("only/two")).toBe("2\n");
        expect(statSync(join(root, "only")).mode & 0o777).toBe(0o700);
        expect(await workspace.undo({ count: 2 })).toMatchObject({ outcome: "applied" });
        expect(temp.read("a")).toBe("1\n");
      },
    ),
  );

  test(
    "[N6] a directory goes when the restore emptied it, and an empty one of the user's stays",
    inWorkspace({ a: "1\n", "only/two": "2\n" }, async (temp) => {
      const { workspace, root } = temp;
      await workspace.importThread(CONVERSATION);
      await workspace.restoreTo("one");
      expect([...temp.tree().keys()]).toEqual(["a"]);
      mkdirSync(join(root, "only"));
      expect(await workspace.restoreTo("three")).toMatchObject({ outcome: "applied" });
      expect([...temp.tree().keys()]).toEqual(["a", "only"]);
    }),
  );

  test(
    "[N6] what git ignored when a tool named it says nothing about a state from elsewhere",
    inWorkspace({ a: "1\n" }, async (temp) => {
      const { workspace } = temp;
      const { id } = await workspace.importCheckpoint(request("one", [file("a", "old\n")]));
      await workspace.checkpoint({ paths: ["dist/x"] });
      temp.write("dist/x", "made later\n");
      await workspace.checkpoint();
      await workspace.restoreTo(id);
      expect(temp.read("dist/x")).toBe("made later\n");
    }),
  );

  test(
    "a difference with the disk tells of what the import knew, and of nothing else",
    inWorkspace({ a: "1\n", mine: "mine\n", "only/two": "2\n" }, async ({ workspace }) => {
      await workspace.importThread(CONVERSATION);
      const { files } = await workspace.diff({ from: "one", detail: "names" });
      expect(files.map((each) => `${each.type} ${each.path}`)).toEqual(["modified a", "added only/two"]);
      const { files: between } = await workspace.diff({ from: "one", to: "two", detail: "names" });
      expect(between.map((each) => `${each.type} ${each.path}`)).toEqual(["modified a", "added only/two"]);
    }),
  );

  test(
    "a gap is never touched, and what another thread did here is named before it goes",
    inWorkspace({ a: "1\n", big: "big\n" }, async (temp) => {
      const { workspace } = temp;
      const other = await temp.openThread("agent");
      await temp.turn("t1", () => temp.write("a", "2\n"), other);
      const gap: ImportedFile = { path: path("big"), kind: "gap", reason: "too-large", size: 4 };
      const { id } = await workspace.importCheckpoint(request("one", [file("a", "old\n"), gap]));
      const plan = await workspace.planRestore(id);
      expect(plan.otherThreads).toEqual([{ thread: other, paths: ["a"] }]);
      await workspace.restore(plan);
      expect([temp.read("a"), temp.read("big")]).toEqual(["old\n", "big\n"]);
    }),
  );
});

describe("[R372] importing", () => {
  test(
    "twice is once, with one row in the log; a dropped one comes back",
    inWorkspace({ a: "1\n" }, async (temp) => {
      const { workspace } = temp;
      const first = await workspace.importThread(CONVERSATION);
      expect(first).toMatchObject({ alreadyThere: 0, messages: 6, files: 4, leftOut: [] });
      const again = await workspace.importThread(CONVERSATION);
      expect(again).toMatchObject({ alreadyThere: 3, messages: 0, files: 0, thread: first.thread });
      expect(again.checkpoints.map(({ id }) => id)).toEqual(first.checkpoints.map(({ id }) => id));
      expect(await names(temp, { thread: first.thread })).toEqual(["state three", "state two", "state one"]);
      await workspace.upkeep.deleteCheckpoint("three");
      await expect(workspace.resolve("three")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      await workspace.importThread(CONVERSATION);
      expect(await workspace.resolve("three")).toMatchObject({ id: first.checkpoints[2]!.id });
      expect((await workspace.upkeep.stats()).operations).toMatchObject({ import: 1 });
    }),
  );

  test(
    "a conversation keeps its times, messages, sessions and approvals",
    inWorkspace({ a: "1\n" }, async ({ workspace }) => {
      const { thread, checkpoints } = await workspace.importThread(CONVERSATION);
      expect(await workspace.threads.get("d1")).toMatchObject({
        id: thread,
        title: "Add tests",
        createdAt: Date.UTC(2025, 0, 1),
        updatedAt: Date.UTC(2025, 0, 2),
        messages: 6,
        checkpoints: 3,
        session: "session_2",
        lastApprovedAt: Date.UTC(2025, 0, 1, 2),
      });
      const { messages } = await workspace.threads.history(thread);
      expect(messages.map(({ content, checkpoint }) => [content, checkpoint])).toEqual([
        ["do one", checkpoints[0]!.id],
        ["did one", null],
        ["do two", checkpoints[1]!.id],
        ["did two", null],
        ["do three", checkpoints[2]!.id],
        ["did three", null],
      ]);
      expect(await workspace.approvals.sessions(thread)).toMatchObject([
        { name: "session_1", status: "merged", approved: checkpoints[1]!.id },
        { name: "session_2", status: "active", approved: null, base: null },
      ]);
      expect(await workspace.resolve("m1")).toMatchObject({ id: checkpoints[1]!.id });
      expect(await workspace.show("two")).toMatchObject({
        checkpoint: { changes: { added: 1, modified: 1, deleted: 0 }, parents: [checkpoints[0]!.id] },
        files: [
          { path: "a", type: "modified" },
          { path: "only/two", type: "added" },
        ],
      });
    }),
  );

  test(
    "a conversation that goes back to an imported place has its later messages marked, imported and new ones",
    inWorkspace({ a: "1\n" }, async (temp) => {
      const { workspace } = temp;
      const { thread } = await workspace.importThread(CONVERSATION);
      await workspace.turns.prompt(thread, { content: "more" });
      await workspace.restoreTo("two", { scope: "both" });
      const { messages } = await workspace.threads.history(thread);
      expect(messages.map(({ rolledBack }) => rolledBack)).toEqual([
        false,
        false,
        true,
        true,
        true,
        true,
        true,
      ]);
      await workspace.undo();
      const { messages: again } = await workspace.threads.history(thread);
      expect(again.filter(({ rolledBack }) => rolledBack)).toEqual([]);
    }),
  );

  test(
    "a tag that is taken stays where it is, and a name that no checkpoint can have is left out",
    inWorkspace({ a: "1\n" }, async ({ workspace }) => {
      const { id } = await workspace.checkpoint({ tags: ["v1"] });
      const { checkpoints, leftOut } = await workspace.importCheckpoints([
        request("one", [], { tags: ["v1", "v2"], name: "12" }),
      ]);
      expect(leftOut.map(({ tag }) => tag)).toEqual(["12", "v1"]);
      expect(checkpoints[0]).toMatchObject({ tags: ["v2"], name: null });
      expect(await workspace.resolve("v1")).toMatchObject({ id });
    }),
  );

  test.each(["../x", "/etc/passwd", "a//b", ".git/config", "x/.git/hooks/y", ".belay-stage-x/y"])(
    "%s is refused, and nothing is imported",
    (name) =>
      inWorkspace({ a: "1\n" }, async ({ workspace }) => {
        const requests = [request("one", [file("a", "1\n")]), request("two", [file(name, "x\n")])];
        await expect(workspace.importCheckpoints(requests)).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
        await expect(
          workspace.importCheckpoint(request("three", [], { covers: [path(name)] })),
        ).rejects.toMatchObject({
          code: "PATH_OUTSIDE",
        });
        await expect(workspace.resolve("one")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      })(),
  );

  test(
    "links, modes and bytes come through, and 20 MiB in small transactions",
    inWorkspace({ a: "1\n" }, async (temp) => {
      const { workspace, root } = temp;
      const noise = Buffer.alloc(20 * 1024 * 1024);
      noise.forEach((_, at) => (noise[at] = (at * 2654435761) >>> 24));
      const { id } = await workspace.importCheckpoint(
        request("one", [
          { path: path("run"), kind: "file", mode: 0o100755, content: Buffer.from([0, 255, 10]) },
          { path: path("link"), kind: "symlink", mode: 0, content: Buffer.from("run") },
          { path: path("noise"), kind: "file", mode: 0o644, content: noise },
        ]),
      );
      await workspace.restoreTo(id);
      expect(statSync(join(root, "run")).mode & 0o777).toBe(0o755);
      expect(temp.tree().get("link")).toBe("symlink run");
      expect(statSync(join(root, "noise")).size).toBe(noise.length);
    }),
  );

  test(
    "[R372] what came gets old from when it came, and takes no place from what was captured here",
    inWorkspace({ a: "1\n" }, async (temp) => {
      const { workspace } = temp;
      const { thread } = await workspace.importThread(CONVERSATION);
      const policy = { name: "p", keepAllHours: 24, keepTurnsHours: 24, keepMinimum: 0, keepMaximum: null };
      await workspace.upkeep.prune({ policy });
      expect(await names(temp, { thread })).toHaveLength(3);
      temp.passHours(48);
      await workspace.checkpoint();
      await workspace.upkeep.prune({ policy });
      expect(await names(temp, { thread })).toEqual([]);
      expect(await workspace.resolve("@")).toMatchObject({ origin: null });
    }),
  );
});
