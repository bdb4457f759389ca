/**
 * Checkpoints of a SQLite database while a program commits to it. SQLite itself opens what each of them
 * holds: the state after some commit, or the checkpoint says that the database did not hold still.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { checkCaptured, whileWriting } from "../../packages/engine/test/support/database-writer.ts";
import { inWorkspace } from "../../packages/engine/test/support/temp-workspace.ts";
import type { Suite } from "../suite.ts";

const CAPTURES_A_ROUND = 40;

export const databases: Suite = {
  name: "databases",
  unit: "checkpoints",
  goal: 4_000,
  short: 40,
  round: (round) =>
    inWorkspace({ ".gitignore": "data/\n", a: "a" }, async (temp) => {
      const { workspace } = temp;
      const { random } = round;
      if (random.below(2) === 0) await workspace.watch();
      const taken: string[] = [];
      const mode = random.pick(["WAL", "WAL", "DELETE"] as const);
      await whileWriting(temp, { mode, pause: random.below(6) }, async () => {
        for (let each = 0; each < CAPTURES_A_ROUND; each += 1) {
          temp.write("a", `${each}`);
          const { checkpoint } = await workspace.checkpoint();
          const isUnstable = checkpoint.doubts.some(({ path }) => path.startsWith("data/"));
          if (isUnstable) round.count("with a doubt");
          else taken.push(checkpoint.id);
          await sleep(random.below(12));
        }
      });
      for (const id of taken) {
        await checkCaptured(temp, id);
        round.count(mode);
      }
    })(),
};
