/**
 * Two conversations write each its own lines of one file and a file of its own, in any order, with undo, redo,
 * approve and reset in between: what is pending for one, and what its reset changes, never depends on the other.
 */
import { expect, test } from "vitest";
import type { ThreadId } from "../src/index.ts";
import { createSeededRandom } from "./support/seeded-random.ts";
import { inWorkspace, type TempWorkspace } from "./support/temp-workspace.ts";

const LINES = ["first", "A 0", "third", "fourth", "fifth", "sixth", "B 0", "last"];
const ROUNDS = 40;

interface Step {
  readonly old: string;
  readonly new: string;
}

/** What one conversation should be: its text, what is approved, its steps. */
class Model {
  readonly thread: ThreadId;
  readonly name: "A" | "B";
  text: string;
  approved: string;
  readonly applied: Step[] = [];
  readonly undone: Step[] = [];

  constructor(thread: ThreadId, name: "A" | "B") {
    this.thread = thread;
    this.name = name;
    this.text = this.approved = `${name} 0`;
  }

  do(text: string): void {
    if (text === this.text) return;
    this.applied.push({ old: this.text, new: text });
    this.text = text;
  }

  move(from: Step[], to: Step[], side: keyof Step): void {
    const step = from.pop();
    if (step === undefined) return;
    this.text = step[side];
    to.push(step);
  }
}

function write({ write: put, read }: TempWorkspace, { name }: Model, text: string): void {
  const lines = read("both").trimEnd().split("\n");
  lines[LINES.indexOf(`${name} 0`)] = text;
  put("both", `${lines.join("\n")}\n`);
  put(`own-${name}`, `${text}\n`);
}

test(
  "[R29] [R30] [I60] pending and reset of one conversation never depend on the other",
  { timeout: 300_000 },
  inWorkspace({ both: `${LINES.join("\n")}\n`, "own-A": "A 0\n", "own-B": "B 0\n" }, async (temp) => {
    const random = createSeededRandom();
    console.info(`approval: BELAY_SEED=${random.seed}`);
    const { workspace, read } = temp;
    const open = async (name: "A" | "B") =>
      new Model((await workspace.threads.create({ agent: name })).id, name);
    const models = [await open("A"), await open("B")] as const;
    const acts = {
      async turn(model: Model, round: number) {
        await workspace.turns.run({ thread: model.thread, prompt: `${round}` }, async () =>
          write(temp, model, `${model.name} ${round}`),
        );
        model.do(`${model.name} ${round}`);
      },
      async undo(model: Model) {
        await workspace.undo({ thread: model.thread });
        model.move(model.applied, model.undone, "old");
      },
      async redo(model: Model) {
        const [next] = model.undone.slice(-1);
        // a redo over a state it does not come from may be refused: then nothing changes
        const { outcome } = await workspace.redo({ thread: model.thread });
        if (next?.old === model.text || next?.new === model.text) expect(outcome).not.toBe("conflicts");
        if (outcome !== "conflicts") model.move(model.undone, model.applied, "new");
      },
      async approve(model: Model) {
        await workspace.approvals.approve(model.thread);
        model.approved = model.text;
      },
      async reset(model: Model) {
        expect((await workspace.approvals.reset(model.thread)).outcome).toMatch(/^(?:applied|unchanged)$/);
        model.do(model.approved);
      },
    };
    const names = ["turn", "turn", "turn", "undo", "redo", "approve", "reset"] as const;
    const done: string[] = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const [model, act] = [random.pick(models), random.pick(names)];
      done.push(`${act} ${model.name}`);
      await acts[act](model, round);
      const where = done.join(", ");
      for (const { thread, name, text, approved } of models) {
        expect(read("both").split("\n")[LINES.indexOf(`${name} 0`)], where).toBe(text);
        expect(read(`own-${name}`), where).toBe(`${text}\n`);
        const { changedFiles } = await workspace.approvals.session(thread);
        const expected = text === approved ? [] : ["both", `own-${name}`];
        expect(
          changedFiles.map(({ path }) => path as string),
          where,
        ).toEqual(expected);
      }
    }
  }),
);
