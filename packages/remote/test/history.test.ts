/** A clone has the whole history, row by row: conversations, turns, approvals, branches, names, undo lists. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { MemoryRemoteStore } from "../src/stores/memory-remote-store.ts";
import { Machine } from "./support/machines.ts";

const TABLES =
  "branch thread session checkpoint step message tool_call agent_run operation uncaptured ref gap doubt change shared_window";
/** What means something on one machine only. */
const LOCAL = new Set(["heard_at", "client", "working_copy"]);

function rowsOf(machine: Machine, table: string): Record<string, unknown>[] {
  using db = new DatabaseSync(join(machine.workspace.store, "store.db"), { readOnly: true });
  const rows = db.prepare(`SELECT * FROM ${table}`).all();
  const plain = rows.map((row) =>
    Object.fromEntries(
      Object.entries(row)
        .filter(([column]) => !LOCAL.has(column))
        .map(([column, value]) => [
          column,
          value instanceof Uint8Array ? Buffer.from(value).toString("hex") : value,
        ]),
    ),
  );
  return plain.toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1));
}

async function work(ana: Machine): Promise<void> {
  const { workspace } = ana;
  const thread = await workspace.threads.open({ agent: "claude-code", externalId: "c1", title: "a title" });
  await workspace.turns.prompt(thread.id, { content: "make it two", messageId: "m-1" });
  await workspace.turns.beginTool(thread.id, { tool: "Bash", toolUseId: "t-1" });
  ana.write({ "a.txt": "two\n", "new/b.txt": "b\n" });
  await workspace.turns.endTool(thread.id, { toolUseId: "t-1" });
  await workspace.turns.beginAgent(thread.id, { id: "sub", role: "reviewer" });
  await workspace.turns.endAgent(thread.id, { id: "sub", status: "done" });
  await workspace.threads.addMessage(thread.id, { role: "assistant", content: "done" });
  await workspace.turns.end(thread.id);
  await workspace.approvals.approve(thread.id);
  await workspace.turns.prompt(thread.id, { content: "and three" });
  ana.write({ "a.txt": "three\n" });
  await workspace.turns.end(thread.id);
  await workspace.undo();
  await workspace.redo();
  await workspace.tag("@", "good");
  await workspace.note("@", "a note");
  await workspace.rename("@-1", "a name");
  await workspace.createBranch("idea");
}

test("[T5] every row of the history is in the clone, also of what changed between two pushes", async () => {
  const store = new MemoryRemoteStore();
  const ana = new Machine(() => store);
  ana.write({ "a.txt": "one\n" });
  await (await ana.init()).add();
  await ana.push();
  await work(ana);
  await ana.push();
  await ana.workspace.untag("good");
  await ana.workspace.tag("@-2", "better");
  await ana.workspace.renameBranch("idea", "plan");
  await ana.workspace.undo();
  await ana.push();
  const bob = await ana.clone(() => store);
  for (const table of TABLES.split(" ")) {
    const rows = rowsOf(ana, table);
    if (!["gap", "doubt", "uncaptured", "shared_window"].includes(table))
      expect(rows.length, table).toBeGreaterThan(0);
    expect(rowsOf(bob, table), table).toEqual(rows);
  }
  expect(await bob.workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true });
  // and it is a history that can be worked with
  expect((await bob.workspace.restoreTo("@")).outcome).toBe("applied");
  const [summary] = await bob.workspace.threads.list();
  expect(summary).toMatchObject({ title: "a title" });
});
