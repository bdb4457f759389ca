import { describe, expect, test } from "vitest";
import { inWorkspace, runInProcess, type TempWorkspace } from "../../test/support/temp-workspace.ts";
import type { EventOptions, WorkspaceEvent } from "../model/event.ts";
import { appendEvent, readEvents } from "../history/events.ts";
import type { LocalWorkspace } from "./local-workspace.ts";
import type { Workspace } from "./interface/workspace.ts";

/** The next events of a reader, until it has this many. */
async function take(reader: AsyncIterable<WorkspaceEvent>, count: number): Promise<WorkspaceEvent[]> {
  const events: WorkspaceEvent[] = [];
  for await (const event of reader) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

/** All events there are after a number: as many as the store has. */
async function all(
  workspace: Workspace,
  { after = 0, thread }: EventOptions = {},
): Promise<WorkspaceEvent[]> {
  const { db } = (workspace as LocalWorkspace).runner;
  const count = readEvents(db, after, thread === undefined ? {} : { thread }).length;
  if (count === 0) return [];
  return take(workspace.events.read({ after, ...(thread === undefined ? {} : { thread }) }), count);
}

const threadOf = async ({ workspace }: TempWorkspace, agent: string) =>
  (await workspace.threads.open({ agent, externalId: agent })).id;

describe("[R36] reading events", () => {
  test(
    "begins with what happens after the call, not after the first reading",
    inWorkspace({ x: "0" }, async ({ workspace, write }) => {
      const reader = workspace.events.read();
      write("x", "1");
      const { id } = await workspace.checkpoint();
      expect(await take(reader, 1)).toMatchObject([{ type: "checkpoint_created", checkpoint: { id } }]);
    }),
  );

  test(
    "goes on after any number, in the same order, with the same numbers",
    inWorkspace({ x: "0" }, async ({ workspace, write }) => {
      for (const content of ["1", "2", "3"]) {
        write("x", content);
        await workspace.checkpoint({ name: `n${content}` });
      }
      const events = await all(workspace);
      const seqs = events.map(({ seq }) => seq);
      expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
      for (const [index, seq] of seqs.entries())
        expect((await all(workspace, { after: seq })).map((event) => event.seq)).toEqual(
          seqs.slice(index + 1),
        );
    }),
  );

  test(
    "of one thread leaves out those of every other",
    inWorkspace({ x: "0" }, async (temp) => {
      const [one, other] = [await threadOf(temp, "one"), await threadOf(temp, "other")];
      for (const thread of [one, other, one])
        await temp.turn("a turn", () => temp.write("x", thread), thread);
      const events = await all(temp.workspace, { thread: one });
      expect(events.length).toBeGreaterThan(0);
      expect(new Set(events.map(({ thread }) => thread))).toEqual(new Set([one]));
    }),
  );

  test(
    "[R1757] of some types leaves out all others, however many there are, and misses none",
    inWorkspace({ x: "0" }, async ({ workspace, write, turn }) => {
      const reader = workspace.events.read({ types: ["done", "checkpoint_updated"] });
      const [first, later] = [take(reader, 2), workspace.events.read({ types: ["done"] })];
      const { db } = (workspace as LocalWorkspace).runner;
      db.transaction(() => {
        for (let at = 0; at < 250; at += 1)
          appendEvent(db, { type: "capture_resumed", thread: null, at, data: {} });
      });
      await turn("a turn", () => write("x", "1"));
      await workspace.rename("@", "one");
      expect((await first).map(({ type }) => type)).toEqual(["done", "checkpoint_updated"]);
      expect((await take(later, 1)).map(({ type }) => type)).toEqual(["done"]);
    }),
  );

  test(
    "several readers see the same events",
    inWorkspace({ x: "0" }, async ({ workspace, write }) => {
      const readers = [1, 2, 3].map(() => take(workspace.events.read(), 2));
      write("x", "1");
      await workspace.checkpoint();
      await workspace.rename("@", "one");
      const [first, ...rest] = await Promise.all(readers);
      expect(first).toHaveLength(2);
      for (const events of rest) expect(events).toEqual(first);
    }),
  );

  test(
    "sees what another process does",
    inWorkspace({ x: "0" }, async (temp) => {
      const reader = take(temp.workspace.events.read(), 1);
      runInProcess(temp, 'fs.writeFileSync(root + "/x", "1"); await workspace.checkpoint();');
      expect(await reader).toMatchObject([{ type: "checkpoint_created" }]);
    }),
  );

  test(
    "gives a checkpoint as it is when it is read, and null when it is gone",
    inWorkspace({ x: "0" }, async ({ workspace, write }) => {
      const reader = workspace.events.read();
      write("x", "1");
      const { id } = await workspace.checkpoint();
      await workspace.rename(id, "later");
      write("x", "2");
      await workspace.checkpoint();
      await workspace.upkeep.deleteCheckpoint(id);
      const events = await take(reader, 4);
      expect(events.map(({ type }) => type)).toEqual([
        "checkpoint_created",
        "checkpoint_updated",
        "checkpoint_created",
        "checkpoint_deleted",
      ]);
      expect(events[0]).toMatchObject({ checkpoint: null });
      expect(events[3]).toMatchObject({ checkpointId: id });
    }),
  );
});

describe("the end of reading", () => {
  test(
    "an abort ends a reader that waits",
    inWorkspace({ x: "0" }, async ({ workspace }) => {
      const stop = new AbortController();
      const reader = take(workspace.events.read({ signal: stop.signal }), 1);
      stop.abort();
      expect(await reader).toEqual([]);
    }),
  );

  test(
    "a reader that was aborted before it began reads nothing",
    inWorkspace({ x: "0" }, async ({ workspace }) => {
      expect(await take(workspace.events.read({ after: 0, signal: AbortSignal.abort() }), 1)).toEqual([]);
    }),
  );

  test(
    "closing the workspace ends all readers, and a reader that comes later ends at once",
    inWorkspace({ x: "0" }, async (temp) => {
      const { workspace } = temp;
      const readers = [1, 2].map(() => take(workspace.events.read(), 1));
      const late = workspace.events.read();
      await temp.reopen();
      expect(await Promise.all(readers)).toEqual([[], []]);
      expect(await take(late, 1)).toEqual([]);
    }),
  );

  test(
    "a reader that stops in the middle leaves the others alone",
    inWorkspace({ x: "0" }, async ({ workspace, write }) => {
      const patient = take(workspace.events.read(), 2);
      const hasty = take(workspace.events.read(), 1);
      write("x", "1");
      await workspace.checkpoint();
      expect(await hasty).toHaveLength(1);
      write("x", "2");
      await workspace.checkpoint();
      expect(await patient).toHaveLength(2);
    }),
  );
});

describe("what the host does", () => {
  test(
    "[R63] comes after every way back, with the paths that changed; what it says is in the notices",
    inWorkspace({ x: "0", y: "0" }, async (temp) => {
      const { workspace, write } = temp;
      const seen: string[][] = [];
      workspace.events.afterRestore(async (paths) => {
        seen.push([...paths].sort());
        return [`${paths.length} went back`];
      });
      const thread = await threadOf(temp, "one");
      await workspace.turns.run({ thread }, async () => write("x", "1"));
      const ways = {
        undo: () => workspace.undo(),
        redo: () => workspace.redo(),
        restoreTo: () => workspace.restoreTo("1"),
        "restore of a plan": async () => {
          write("y", "1");
          return workspace.restore(await workspace.planRestore("1"));
        },
        reset: async () => {
          await workspace.turns.run({ thread }, async () => write("x", "2"));
          return workspace.approvals.reset(thread);
        },
        "abort of an edit": async () => {
          const edit = await workspace.turns.startEdit(thread, { paths: ["y"] });
          write("y", "2");
          return workspace.turns.abortEdit(edit.id);
        },
      };
      for (const [name, go] of Object.entries(ways)) {
        const outcome = await go();
        expect(outcome, name).toMatchObject({ outcome: "applied" });
        expect(outcome.notices, name).toContain("1 went back");
      }
      expect(seen).toEqual([["x"], ["x"], ["x"], ["y"], ["x"], ["y"]]);
    }),
  );

  test(
    "is not called for plans, for conflicts, or when there was nothing to do",
    inWorkspace({ x: "0\n" }, async (temp) => {
      const { workspace, write } = temp;
      workspace.events.afterRestore(async () => {
        throw new Error("called");
      });
      expect(await workspace.undo()).toMatchObject({ outcome: "unchanged" });
      await temp.turn("one", () => write("x", "1\n"));
      write("x", "mine\n");
      expect(await workspace.planUndo()).not.toBeNull();
      expect(await workspace.undo()).toMatchObject({ outcome: "conflicts" });
    }),
  );

  test(
    "comes after every way to forget words, with the agent's name for the thread",
    inWorkspace({ x: "0" }, async ({ workspace }) => {
      const forgotten: string[] = [];
      workspace.events.afterForget(async ({ agent, externalId }) => {
        forgotten.push(`${agent}/${externalId}`);
      });
      const ids = [];
      for (const externalId of ["a", "b", "c"]) {
        const { id } = await workspace.threads.open({ agent: "claude", externalId });
        await workspace.turns.prompt(id, { content: "secret", messageId: `m-${externalId}` });
        ids.push(id);
      }
      await workspace.threads.forget("a", { dryRun: true });
      expect(forgotten).toEqual([]);
      await workspace.threads.forget("a");
      await workspace.threads.forgetMessage("m-b");
      await workspace.threads.delete(ids[2]!);
      expect(forgotten).toEqual(["claude/a", "claude/b", "claude/c"]);
    }),
  );
});
