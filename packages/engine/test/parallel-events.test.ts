/** What readers of events are told of forks, merges, conflicts and loops of fixes. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import type { WorkspaceEvent } from "../src/index.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

/** The events since a number, until one of a type. */
async function eventsUntil(
  { workspace }: TempWorkspace,
  after: number,
  last: string,
): Promise<WorkspaceEvent[]> {
  const found: WorkspaceEvent[] = [];
  for await (const event of workspace.events.read({ after })) {
    found.push(event);
    if (event.type === last) break;
  }
  return found;
}

const ABOUT = /^(fork|merge|conflict|fix)_/;

test(
  "[R1456] [R1751] forks, merges, conflicts and loops of fixes are told, in the order in which they happened",
  inWorkspace({ "a.txt": "one\n" }, async (temp) => {
    const { workspace } = temp;
    const { merges, fixes } = workspace;
    const after = workspace.events.newest();
    const fork = await workspace.fork("f");
    writeFileSync(join(fork.path, "a.txt"), "theirs\n");
    temp.write("a.txt", "ours\n");
    const other = await workspace.fork("g");
    writeFileSync(join(other.path, "g.txt"), "g\n");
    const planned = await workspace.planMerge(["f", "g"], { announce: true });
    const { merge } = await workspace.merge(planned);
    const [conflict] = merge.conflicts;
    await workspace.resolve(conflict!.id, { take: "theirs" });
    await workspace.merge(await merges.planRest(merge.id));
    writeFileSync(join(fork.path, "a.txt"), "theirs again\n");
    temp.write("a.txt", "ours again\n");
    const second = await workspace.merge(await workspace.planMerge(["f"]));
    await workspace.abandonMerge(second.merge.id);
    await workspace.removeFork("f", { now: true });
    const issues = [{ severity: "medium", message: "no", file: "a.txt", line: 1 }];
    const { id } = await fixes.begin({ config: {}, review: null, issues });
    const { id: checkpoint } = await fixes.beginAttempt(id, {
      number: 1,
      ofSeverity: 1,
      severity: "medium",
      issues,
    });
    await fixes.update(id, { state: "escalated", issues, reason: "No progress" });
    await fixes.update(id, { state: "accepted", issues });
    const events = (await eventsUntil(temp, after, "fix_finished")).filter(({ type }) => ABOUT.test(type));
    const opened = second.merge.conflicts[0]!.id;
    expect(events).toMatchObject([
      { type: "fork_created", fork: fork.id, name: "f", path: fork.path },
      { type: "fork_created", fork: other.id, name: "g" },
      { type: "merge_planned", sources: ["f", "g"], open: 1 },
      { type: "merge_applied", merge: merge.id, sources: ["g"], open: 1 },
      { type: "conflict_opened", conflict: conflict!.id, path: "a.txt" },
      { type: "conflict_resolved", conflict: conflict!.id },
      // what came in by this step, and not what came in before
      { type: "merge_applied", merge: merge.id, sources: ["f"], open: 0 },
      // nothing of the second merge came in
      { type: "conflict_opened", conflict: opened },
      { type: "merge_abandoned", merge: second.merge.id },
      { type: "fork_removed", fork: fork.id, name: "f" },
      { type: "fix_started", fix: id },
      { type: "fix_attempt", fix: id, number: 1, severity: "medium", checkpoint },
      { type: "fix_escalated", fix: id, reason: "No progress" },
      { type: "fix_finished", fix: id, state: "accepted" },
    ]);
  }),
);

test(
  "[R1750] [R1453] a loop whose process was killed is told as escalated, once, by whichever process notices it",
  inWorkspace({ "a.txt": "one\n" }, async (temp) => {
    const { fixes, events } = temp.workspace;
    const issues = [{ severity: "medium", message: "no", file: "a.txt", line: 1 }];
    const alive = await fixes.begin({ config: {}, review: null, issues });
    const { id } = await fixes.begin({ config: {}, review: null, issues });
    using store = new DatabaseSync(join(temp.workspace.store, "store.db"));
    // larger than any process number
    store.prepare("UPDATE lease SET pid = ? WHERE id = ?").run(2 ** 30, id);
    const after = events.newest();
    await fixes.noticeKilled();
    await fixes.noticeKilled();
    await temp.reopen();
    await temp.workspace.fixes.update(alive.id, { state: "clean", issues: [] });
    const told = (await eventsUntil(temp, after, "fix_finished")).filter(({ type }) => ABOUT.test(type));
    expect(told).toMatchObject([
      { type: "fix_escalated", fix: id, reason: "Interrupted" },
      { type: "fix_finished", fix: alive.id },
    ]);
    expect(await temp.workspace.fixes.find(id)).toMatchObject({ state: "escalated", issues, endedAt: null });
  }),
);
