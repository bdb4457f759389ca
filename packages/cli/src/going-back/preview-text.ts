/** What a plan would do: every path it changes, keeps or cannot decide, and why. */
import { countChanges, type Plan } from "@belay/engine";
import { doubtList, gapList, listText } from "../output/file-list.ts";
import type { Output } from "../output/output.ts";
import { count, grouped, reasonWords } from "@belay/tui/text";
import { stepLabel } from "../output/step-label.ts";
import { table } from "../output/table.ts";
import { visible, visiblePath } from "../output/visible.ts";
import { conflictList } from "./conflict-text.ts";
import { editList, type EditListContext } from "./edit-list.ts";
import { DONE } from "./left-out.ts";

/** Where and how a preview is printed. */
export type PreviewContext = EditListContext;

/** A plan of going back, in words for the terminal. */
export function previewText(plan: Plan, context: PreviewContext): string {
  return [...operationList(plan, context), ...remarks(plan, context)].join("\n");
}

/** A plan to go back, in one line: `3 files: 1 created, 1 changed, 1 deleted` */
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

function operationList(plan: Plan, context: PreviewContext): string[] {
  // changes that a person may have made are listed separately
  const apart = new Set(plan.maybe.map(({ path }) => path));
  const edits = plan.edits.filter(({ path }) => !apart.has(path));
  return edits.length === 0 ? [] : [editList(plan, edits, context)];
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
  const listed = new Set<string>(plan.edits.map(({ path }) => path));
  const isApart = ({ path }: { readonly path: string }) => !listed.has(path) || context.files.size === 0;
  // what is merged is in the list above, marked
  const outside = plan.meanwhile.filter((path) => !plan.paused.includes(path) && isApart({ path }));
  const others = takesOutOthersWork(plan) ? plan.otherThreads : [];
  const kept = new Set<string>(plan.kept.map(({ path }) => path));
  const gaps = plan.gaps.filter(({ path }) => !kept.has(path));
  const doubts = plan.doubts.filter(isApart);
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
    ...others.flatMap((other) => {
      const title = `Undoes work of ${agentLabel(other.thread, agents)}`;
      if (context.files.size > 0)
        return [style.bold(`${title}: ${count(other.paths.length, "file")}, marked above`)];
      return remark(`${title}:`, other.paths.length, () => paths(other.paths));
    }),
    ...plan.leftAlone.flatMap((other) =>
      remark(`Work of ${agentLabel(other.thread, agents)}, left alone:`, other.paths.length, () =>
        paths(other.paths),
      ),
    ),
    ...remark("Not in the checkpoint; never touched:", gaps.length, () =>
      gapList(gaps, context.limits, { output, all }),
    ),
    ...remark(doubtTitle(plan), doubts.length, () => doubtList(doubts, output, all)),
    ...doubtsAbove(plan, doubts.length),
    ...remark(outsideTitle(plan), plan.outside.length, () => outsideList(plan, output, all)),
    ...plan.warnings.map((warning) => `${style.yellow("warning:")} ${visible(warning)}`),
  ];
}

function outsideTitle({ writesOutside }: Plan): string {
  return writesOutside
    ? "Outside the workspace; written back:"
    : "Outside the workspace; stays (--outside writes it back too):";
}

/** The files outside, with what would become of each. */
export function outsideList({ outside }: Plan, output: Output, all: boolean | undefined): string {
  return listText(outside, { output, all }, (shown) => {
    const rows = shown.map(({ path, type, reason }) => [
      { text: visible(path) },
      { text: visible(reason ?? type), paint: output.style.dim },
    ]);
    return table(rows, { width: output.width, indent: "  ", wraps: true, flexible: 0 });
  });
}

/** What the codes beside paths of the list mean. */
function doubtsAbove({ doubts }: Plan, apart: number): string[] {
  if (apart === doubts.length) return [];
  return [...Map.groupBy(doubts, ({ reason }) => reason)].map(
    ([reason, those]) => `  ${reason} (${count(those.length, "file")} above): ${reasonWords(reason)}`,
  );
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
    return table(rows, { width: output.width, indent: "  ", wraps: true, flexible: 0 });
  });
}
