/** A text that came and went in the middle of a history: Belay's search against `git log -S` and `-G` on the same one. */
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import type { Belay } from "./belay.ts";
import { median, milliseconds, ms, type Row } from "./measure.ts";
import type { Project } from "./project.ts";
import type { ShadowGit } from "./shadow-git.ts";

const NEEDLE = "plantedInTheMiddle";
const PATTERN = "planted[A-Z][a-z]+TheMiddle";

/** Brings the text after a third of a history, and takes it out after half of it. */
export function plantNeedle({ files }: Project, at: number, checkpoints: number): void {
  const file = files[0]!;
  if (at === Math.floor(checkpoints / 3)) appendFileSync(file, `const ${NEEDLE} = 1;\n`);
  if (at === Math.floor(checkpoints / 2))
    writeFileSync(file, readFileSync(file, "utf8").replace(NEEDLE, "removed"));
}

/** Whole commands, as people run them, in turn. */
export function measureSearch(
  belay: Belay,
  git: ShadowGit,
  { files, checkpoints, rounds }: { files: number; checkpoints: number; rounds: number },
): Row[] {
  return (
    [
      ["-S", NEEDLE],
      ["-G", PATTERN],
    ] as const
  ).map(([option, text]) => {
    const times = Array.from({ length: rounds }, () => ({
      own: belay.time("search", option, text),
      shadow: milliseconds(() => git.search(option, text)),
    }));
    const own = median(times.map((time) => time.own));
    const shadow = median(times.map((time) => time.shadow));
    return {
      work: `search ${option} through ${checkpoints} checkpoints`,
      files,
      belay: ms(own),
      git: ms(shadow),
      ratio: `${(shadow / own).toFixed(2)} ×`,
      budget: "≥ 1 ×",
      holds: own <= shadow,
    };
  });
}
