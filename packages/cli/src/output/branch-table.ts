/** Branches as rows, and as a tree of which began on which. */
import type { Branch } from "@belay/engine";
import { count, relativeTime } from "@belay/tui/text";
import type { Output } from "./output.ts";
import { table } from "./table.ts";
import { visible } from "./visible.ts";

/** Branches as rows; the one that the files are on is marked. */
export function branchTable(branches: readonly Branch[], output: Output): string {
  const { style } = output;
  const rows = branches.map((branch) => [
    { text: branch.current ? "*" : " ", paint: style.green },
    { text: visible(branch.name), paint: branch.current ? style.green : style.cyan },
    { text: relativeTime(branch.updatedAt) },
    { text: factsOf(branch), paint: style.dim },
  ]);
  return table(rows, { width: output.width, flexible: 3 });
}

/** Branches below the branch that they began on. */
export function branchTree(branches: readonly Branch[], output: Output): string {
  const named = new Set(branches.map(({ name }) => name));
  // one whose parent is not listed stands by itself
  const tops = branches.filter(({ parent }) => parent === null || !named.has(parent));
  return tops.flatMap((top) => [lineOf(top, output), ...below(top, branches, output, "")]).join("\n");
}

function below(top: Branch, all: readonly Branch[], output: Output, indent: string): string[] {
  const children = all.filter(({ parent }) => parent === top.name);
  return children.flatMap((child, index) => {
    const isLast = index === children.length - 1;
    const next = `${indent}${isLast ? "   " : "│  "}`;
    return [`${indent}${isLast ? "└─ " : "├─ "}${lineOf(child, output)}`, ...below(child, all, output, next)];
  });
}

function lineOf(branch: Branch, { style }: Output): string {
  const name = branch.current ? style.green(`${visible(branch.name)} *`) : visible(branch.name);
  return `${name}  ${style.dim(factsOf(branch))}`;
}

/** `3 ahead, 1 behind main; deleted` */
function factsOf({ parent, ahead, behind, state, workingCopy, current, files, description }: Branch): string {
  const against = parent === null ? [] : [`${ahead} ahead, ${behind} behind ${visible(parent)}`];
  return [
    ...against,
    count(files, "file"),
    ...(state === "open" ? [] : [state === "discarded" ? "deleted" : state]),
    ...(workingCopy === null || current ? [] : [`in ${visible(workingCopy)}`]),
    ...(description === null ? [] : [visible(description)]),
  ].join("; ");
}
