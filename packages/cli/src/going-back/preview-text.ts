/** What a plan would do, for people: every path it touches, leaves or cannot settle, and why. */
import { planOperationType, type Plan, type PlanOperationType } from "@belay/engine";
import { affectedFiles } from "../affected-files.ts";
import { doubtList, gapList, shown, withRest } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { count } from "../output/quantity.ts";
import type { Style } from "../output/style.ts";
import { table } from "../output/table.ts";
import { visible, visiblePath } from "../output/visible.ts";

export function previewText(plan: Plan, output: Output, all: boolean | undefined): string {
  const parts = [operationList(plan, output, all), ...remarks(plan, output, all)];
  return parts.filter((part) => part !== "").join("\n");
}

/** `3 files: 1 created, 1 changed, 1 deleted` */
export function planSummary(plan: Plan): string {
  const touched = new Set(affectedFiles(plan));
  const types = plan.edits.filter((edit) => touched.has(edit.path)).map(planOperationType);
  const of = (...wanted: PlanOperationType[]) => types.filter((type) => wanted.includes(type)).length;
  const parts = [
    [of("create"), "created"],
    [of("restore", "replace", "mode"), "changed"],
    [of("delete"), "deleted"],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, word]) => `${number} ${word}`);
  return `${count(types.length, "file")}: ${named.join(", ")}`;
}

const MARKS: Readonly<Record<PlanOperationType, { mark: string; paint: keyof Style }>> = {
  create: { mark: "+", paint: "green" },
  restore: { mark: "~", paint: "yellow" },
  delete: { mark: "-", paint: "red" },
  mode: { mark: "m", paint: "cyan" },
  replace: { mark: "!", paint: "yellow" },
};

function operationList(plan: Plan, output: Output, all: boolean | undefined): string {
  if (plan.edits.length === 0) return "";
  const merged = new Set<string>(plan.merged);
  const rows = shown(plan.edits, all).map((edit) => {
    const type = planOperationType(edit);
    const { mark, paint } = MARKS[type];
    const verb = merged.has(edit.path) ? "merge" : type;
    return [{ text: `${mark} ${verb}`, paint: output.style[paint] }, { text: visiblePath(edit.path) }];
  });
  return withRest(table(rows, { width: output.width, indent: "  ", flexible: 1 }), plan.edits.length, all);
}

function remarks(plan: Plan, output: Output, all: boolean | undefined): string[] {
  const { style } = output;
  const remark = (title: string, body: string) => `${style.bold(title)}\n${body}`;
  const list = (items: readonly { path: Plan["merged"][number]; reason: string }[]) =>
    reasonList(items, output, all);
  const meanwhile = plan.meanwhile.map((path) => ({ path, reason: "" }));
  return [
    ...(plan.conflicts.length > 0 ? [remark("In the way:", list(plan.conflicts))] : []),
    ...(plan.kept.length > 0 ? [remark("Stays as it is:", list(plan.kept))] : []),
    ...(meanwhile.length > 0 ? [remark("Changed meanwhile, not by a tool; stays:", list(meanwhile))] : []),
    ...(takesOutOthersWork(plan) ? plan.otherThreads : []).map(({ thread, paths }) =>
      remark(`Takes out work of thread ${thread}:`, list(paths.map((path) => ({ path, reason: "" })))),
    ),
    ...(plan.gaps.length > 0
      ? [remark("Not in the checkpoint; never touched:", gapList(plan.gaps, output, all))]
      : []),
    ...(plan.doubts.length > 0
      ? [remark("Captured with a doubt:", doubtList(plan.doubts, output, all))]
      : []),
    ...plan.warnings.map((warning) => `${style.yellow("warning:")} ${visible(warning)}`),
  ];
}

/** Without a thread of its own a restore takes out everybody's work alike: then it is several that matter. */
export function takesOutOthersWork(plan: Plan): boolean {
  return plan.otherThreads.length > (plan.thread === null ? 1 : 0);
}

/** Paths, each with the reason why. */
export function reasonList(
  items: readonly { readonly path: Plan["merged"][number]; readonly reason: string }[],
  output: Output,
  all: boolean | undefined,
): string {
  const rows = shown(items, all).map(({ path, reason }) => [
    { text: visiblePath(path) },
    { text: visible(reason), paint: output.style.dim },
  ]);
  return withRest(table(rows, { width: output.width, indent: "  ", flexible: 0 }), items.length, all);
}
