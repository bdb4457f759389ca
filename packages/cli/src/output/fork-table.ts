/** Forks as rows. */
import type { Fork } from "@belay/engine";
import { count, relativeTime, size } from "@belay/tui/text";
import type { Output } from "./output.ts";
import { table } from "./table.ts";
import { visible } from "./visible.ts";

/** Forks as rows, with where they are. */
export function forkTable(forks: readonly Fork[], output: Output): string {
  const { style } = output;
  const rows = forks.map((fork) => [
    { text: visible(fork.name), paint: style.cyan },
    { text: relativeTime(fork.removedAt ?? fork.createdAt) },
    { text: factsOf(fork), paint: style.dim },
    { text: visible(fork.path) },
  ]);
  return table(rows, { width: output.width, flexible: 3, dispensable: [1] });
}

/** `50 files; 3 MB on the disk; removed` */
function factsOf({ files, bytesOnDisk, state, run }: Fork): string {
  return [
    count(files, "file"),
    `${size(bytesOnDisk)} on the disk`,
    ...(state === "ready" ? [] : [STATES[state]]),
    ...(run === null ? [] : [`run ${run}`]),
  ].join("; ");
}

const STATES = { making: "being made", removing: "in the trash", gone: "gone" };
