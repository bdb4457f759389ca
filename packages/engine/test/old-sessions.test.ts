/** What becomes of sessions of a conversation that are long over. */
import { expect, test } from "vitest";
import type { RetentionPolicy } from "../src/index.ts";
import { inProtected } from "./support/project.ts";

const DAY_MS = 24 * 3_600_000;
const A_MONTH: RetentionPolicy = {
  name: "a month",
  keepAllHours: 24 * 30,
  keepTurnsHours: 0,
  keepMinimum: 0,
  keepMaximum: null,
};

test(
  "[A57] [A81] old sessions are cleaned: their own checkpoints go, what was approved stays, and the list of sessions too",
  inProtected({ "a.txt": "a" }, async (project, workspace) => {
    project.clockMs = -60 * DAY_MS;
    const { id: thread } = await workspace.threads.open({ agent: "x", externalId: "one" });
    const take = async (text: string) => {
      project.write("a.txt", text);
      return (await workspace.checkpoint({ kind: "message", thread })).checkpoint.id;
    };
    const old = await take("merged");
    const { approved } = await workspace.approvals.approve(thread, { message: "done" });
    const abandoned = await take("abandoned");
    await workspace.approvals.reset(thread);
    project.clockMs = 0;
    const recent = await take("now");
    const ids = async () => (await workspace.list({ thread })).map(({ id }) => id);
    expect(await ids()).toEqual(expect.arrayContaining([old, abandoned]));
    await workspace.upkeep.prune({ policy: A_MONTH });
    const left = await ids();
    expect([left.includes(old), left.includes(abandoned)]).toEqual([false, false]);
    expect(left).toEqual(expect.arrayContaining([approved, recent]));
    expect((await workspace.approvals.sessions(thread)).map(({ status }) => status)).toEqual([
      "merged",
      "abandoned",
      "active",
    ]);
    // for a day they can be had back, and restored
    await workspace.upkeep.unprune();
    expect(await workspace.restoreTo(abandoned)).toMatchObject({ outcome: "applied" });
    expect(project.read("a.txt")).toBe("abandoned");
  }),
);
