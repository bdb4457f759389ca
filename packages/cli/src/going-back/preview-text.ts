/** What a plan would do: every path it changes, keeps or cannot decide, and why. */
import { countChanges, type Plan } from "@belay/engine";
import { planOperationType, type PlanOperationType } from "@belay/server/json";
import { doubtList, gapList, listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { count, grouped } from "@belay/tui/text";
import { reasonWords } from "../output/reasons.ts";
import type { Style } from "../output/style.ts";
import { stepLabel } from "../output/step-label.ts";
import { table } from "../output/table.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { conflictList } from "./conflict-text.ts";
import { DONE } from "./left-out.ts";

/** Where and how a preview is printed. */
export interface PreviewContext {
  readonly output: Output;
  readonly all: boolean | undefined;
  /** The agent of each thread, for plans that take out other threads' work. */
  readonly agents: ReadonlyMap<string, string>;
}

/** A plan in words. */
export function previewText(plan: Plan, context: PreviewContext): string {
  return [...operationList(plan, context), ...remarks(plan, context)].join("\n");
}

/** `3 files: 1 created, 1 changed, 1 deleted` */
export function planSummary(plan: Plan): string {
  const { added, modified, deleted } = countChanges(plan.edits);
  const parts = [
    [added, "created"],
    [modified, "changed"],
    [deleted, "deleted"],
  ] as const;
  const named = parts.filter(([number]) => number > 0).map(([number, word]) => `${grouped(number)} ${word}`);
  if (named.length === 0) return "only directories";
  return `${count(added + modified + deleted, "file")}: ${named.join(", ")}`;
}

const MARKS: Readonly<Record<PlanOperationType, { mark: string; paint: keyof Style }>> = {
  create: { mark: "+", paint: "green" },
  restore: { mark: "~", paint: "yellow" },
  delete: { mark: "-", paint: "red" },
  mode: { mark: "m", paint: "cyan" },
  replace: { mark: "!", paint: "yellow" },
};

function operationList(plan: Plan, context: PreviewContext): string[] {
  // changes that a person may have made are listed separately
  const apart = new Set(plan.maybe.map(({ path }) => path));
  const edits = plan.edits.filter(({ path }) => !apart.has(path));
  return edits.length === 0 ? [] : [editList(plan, edits, context)];
}

function editList(plan: Plan, edits: Plan["edits"], { output, all }: PreviewContext): string {
  const merged = new Set<string>(plan.merged);
  const row = (edit: Plan["edits"][number]) => {
    const type = planOperationType(edit);
    const { mark, paint } = MARKS[type];
    const verb = merged.has(edit.path) ? "merge" : type;
    const slash = (edit.to ?? edit.from)?.kind === "directory" ? "/" : "";
    return [
      { text: `${mark} ${verb}`, paint: output.style[paint] },
      { text: visiblePath(edit.path) + slash },
    ];
  };
  return listText(edits, { output, all }, (shown) =>
    table(shown.map(row), { width: output.width, indent: "  ", flexible: 1 }),
  );
}

/** Everything a person should know besides the list: what stays, doubts, conflicts. */
function remarks(plan: Plan, context: PreviewContext): string[] {
  const { output, all, agents } = context;
  const { style } = output;
  const remark = (title: string, total: number, body: () => string) =>
    total === 0 ? [] : [`${style.bold(title)}\n${body()}`];
  const paths = (list: Plan["merged"]) =>
    reasonList(
      list.map((path) => ({ path, reason: "" })),
      output,
      all,
    );
  const reasons = (list: Parameters<typeof reasonList>[0]) => reasonList(list, output, all);
  const outside = plan.meanwhile.filter((path) => !plan.paused.includes(path));
  const others = takesOutOthersWork(plan) ? plan.otherThreads : [];
  return [
    ...remark("Conflicts:", plan.conflicts.length, () => conflictList(plan.conflicts, output, all)),
    ...remark("Kept as they are:", plan.kept.length, () =>
      reasons(plan.kept.map((each) => withGap(each, plan))),
    ),
    ...[...Map.groupBy(plan.maybe, ({ tool }) => tool)].flatMap(([tool, those]) =>
      remark(
        `Changed while ${visible(tool)} ran, maybe by you; ${DONE[plan.kind]} too:`,
        those.length,
        () => {
          const apart = new Set(those.map(({ path }) => path));
          return editList(
            plan,
            plan.edits.filter(({ path }) => apart.has(path)),
            context,
          );
        },
      ),
    ),
    ...plan.background.flatMap(({ step, tool, paths: those }) =>
      remark(
        `Written by ${visible(tool)} of ${stepLabel(step)}, still running; stays (--include-background takes it back too):`,
        those.length,
        () => paths(those),
      ),
    ),
    ...remark("Changed while captures were paused; stays:", plan.paused.length, () => paths(plan.paused)),
    ...remark("Changed meanwhile, not by a tool; stays:", outside.length, () => paths(outside)),
    ...others.flatMap((other) =>
      remark(`Undoes work of ${agentLabel(other.thread, agents)}:`, other.paths.length, () =>
        paths(other.paths),
      ),
    ),
    ...remark("Not in the checkpoint; never touched:", plan.gaps.length, () =>
      gapList(plan.gaps, output, all),
    ),
    ...remark(doubtTitle(plan), plan.doubts.length, () => doubtList(plan.doubts, output, all)),
    ...plan.warnings.map((warning) => `${style.yellow("warning:")} ${visible(warning)}`),
  ];
}

/** The reason of the target's gap, where known: a checkpoint that lost a file had captured it. */
function withGap({ path, reason }: Plan["kept"][number], { gaps }: Plan) {
  if (reason !== "the target has a gap here") return { path, reason };
  const gap = gaps.find((each) => path === each.path || path.startsWith(`${each.path}/`));
  return { path, reason: gap?.reason ?? reason };
}

/** An undo takes nothing from the doubtful checkpoint, but may miss what that checkpoint already contains. */
function doubtTitle({ kind }: Plan): string {
  return kind === "restore" || kind === "reset"
    ? "Captured with a doubt:"
    : "Captured too late to tell what was changed; may not be taken back:";
}

function agentLabel(thread: string, agents: ReadonlyMap<string, string>): string {
  return `${visible(agents.get(thread) ?? "thread")} (${thread.slice(0, 8)})`;
}

/**
 * A restore without a thread of its own takes out all threads' work alike: that matters when there are
 * several.
 */
export function takesOutOthersWork(plan: Plan): boolean {
  return plan.otherThreads.length > (plan.thread === null ? 1 : 0);
}

/** Paths with their reasons. */
export function reasonList(
  items: readonly { readonly path: Plan["merged"][number]; readonly reason: string }[],
  output: Output,
  all: boolean | undefined,
): string {
  return listText(items, { output, all }, (shown) => {
    const rows = shown.map(({ path, reason }) => [
      { text: visiblePath(path) },
      { text: visible(reasonWords(reason)), paint: output.style.dim },
    ]);
    return table(rows, { width: output.width, indent: "  ", flexible: 0 });
  });
}
