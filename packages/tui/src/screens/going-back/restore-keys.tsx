/** The keys of a restore preview. */
import type { Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import type { Plan, PlanFile } from "../../plans/plan.ts";
import { count } from "../../text/quantity.ts";
import { visibleLine } from "../../text/visible.ts";
import { GOING_BACK, VERBS } from "../../words.ts";
import { ConflictScreen } from "../conflicts/conflict-screen.tsx";
import { openPlanDiff } from "./open-plan-diff.tsx";
import { itemKey, type Item } from "./preview-items.ts";
import type { Choices, RestoreProps, Restoring } from "./use-restoring.ts";

/** What the keys work on. */
export interface RestoreKeysContext {
  readonly frame: Frame;
  readonly props: RestoreProps;
  readonly restoring: Restoring;
  readonly items: readonly Item[];
  readonly at: number;
  run(plan: Plan): void;
  point(key: string): void;
  open(change: PlanFile["change"]): void;
}

/** The keys of the restore screen, as a table. */
export function restoreKeys(context: RestoreKeysContext): Binding[] {
  const { frame, props } = context;
  return [
    ...answerKeys(context),
    ...itemKeys(context),
    ...(props.kind === "restore" ? choiceKeys(context) : []),
    { keys: ["esc"], hint: { text: "cancel" }, run: () => frame.close() },
  ];
}

/** `y` carries out the plan on the screen. One with conflicts is decided first. */
function answerKeys({ frame, props, restoring, run }: RestoreKeysContext): Binding[] {
  const { plan, isCurrent } = restoring.effective;
  const answer = (text: string, act: () => void): Binding[] => [{ keys: ["y"], hint: { text }, run: act }];
  const isNoneChosen =
    restoring.plan?.files.every(({ path }) => restoring.choices.unchecked.has(path)) ?? false;
  if (isNoneChosen && restoring.choices.unchecked.size > 0) return answer(GOING_BACK.noneChosen, () => {});
  if (!plan || !isCurrent) return answer(GOING_BACK.wait, () => {});
  if (restoring.choices.scope === "conversation") return answer(GOING_BACK.askConversation, () => run(plan));
  // there is nothing to answer where nothing would change
  if (plan.filesTotal === 0 && plan.conflictsTotal === 0 && restoring.choices.scope === "files") return [];
  if (plan.conflictsTotal === 0)
    return answer(`${VERBS[props.kind].ask} ${count(plan.filesTotal, "file")}`, () => run(plan));
  const { request } = restoring;
  const screen = <ConflictScreen plan={plan} request={request} words={props.target.words} />;
  return answer(GOING_BACK.decide(count(plan.conflictsTotal, "conflict")), () =>
    frame.open(screen, { question: true }),
  );
}

function itemKeys(context: RestoreKeysContext): Binding[] {
  const { frame, restoring, items, at, point } = context;
  const { plan, choices } = restoring;
  const item = items[at];
  const move = (by: number) => {
    const next = items[Math.max(0, Math.min(items.length - 1, at + by))];
    if (next !== undefined) point(itemKey(next));
  };
  return [
    { keys: ["up"], run: () => move(-1) },
    { keys: ["down"], run: () => move(1) },
    { keys: ["pageup"], run: () => move(-10) },
    { keys: ["pagedown"], run: () => move(10) },
    { keys: ["enter"], run: () => unfold(context, item) },
    {
      keys: ["space"],
      hint: items.length === 0 ? undefined : { text: "choose" },
      run: () => {
        if (item === undefined || !plan) return;
        const problem = item.is === "alone" ? undefined : choosingProblem(plan, choices);
        if (problem !== undefined) restoring.say(problem);
        else restoring.choose(toggled(choices, item));
      },
    },
    {
      keys: ["d"],
      hint: item?.is !== "file" ? undefined : { text: `diff of ${frame.signs.pointer}` },
      run: () => plan && item?.is === "file" && openPlanDiff(frame, plan, item.file),
    },
    ...(choices.scope === "conversation" ? [] : othersKeys(restoring)),
  ];
}

/** Other threads' work is taken too, or left alone again. */
function othersKeys({ others, choices, choose }: Restoring): Binding[] {
  const [other, ...more] = others;
  if (other === undefined) return [];
  const whose = more.length > 0 ? "the others'" : `${visibleLine(other.agent ?? "the other")}'s`;
  const isTaken = choices.taken.size > 0;
  const run = () => choose({ taken: new Set(isTaken ? [] : others.map(({ thread }) => thread)) });
  return [{ keys: ["o"], hint: { text: isTaken ? `not ${whose}` : `${whose} too` }, run }];
}

/** Shows what a line stands for; the pointer goes to the first of it. */
function unfold({ restoring: { plan }, open, point }: RestoreKeysContext, item: Item | undefined): void {
  if (item?.is !== "more" && item?.is !== "folded") return;
  const mine = plan?.files.filter(({ change }) => change === item.change) ?? [];
  const first = item.is === "folded" ? mine[0] : mine[mine.length - item.hidden];
  open(item.change);
  if (first !== undefined) point(itemKey({ is: "file", file: first }));
}

function toggled({ unchecked, taken }: Choices, item: Item): Partial<Choices> {
  const flipped = (set: ReadonlySet<string>, member: string) =>
    set.has(member) ? new Set([...set].filter((each) => each !== member)) : new Set([...set, member]);
  if (item.is === "alone") return { taken: flipped(taken, item.work.thread) };
  return item.is === "file" ? { unchecked: flipped(unchecked, item.file.path) } : {};
}

/** Why files cannot be chosen one by one, in words; undefined when they can. */
function choosingProblem({ files, filesTotal }: Plan, { scope }: Choices): string | undefined {
  if (scope !== "files") return GOING_BACK.alwaysWhole;
  if (filesTotal > files.length) return GOING_BACK.tooMany;
  return files.some(({ pathBase64 }) => pathBase64 !== undefined) ? GOING_BACK.notUtf8 : undefined;
}

const SCOPES = { f: "files", c: "conversation", b: "both" } as const;

function choiceKeys({
  props: { target },
  restoring: { choices, choose, say },
}: RestoreKeysContext): Binding[] {
  return [
    {
      keys: ["f", "c", "b"],
      run: (key) => {
        const scope = SCOPES[key as keyof typeof SCOPES];
        if (scope !== "files" && target.thread === null) say(GOING_BACK.noConversation);
        // a conversation goes back as a whole
        else choose({ scope, ...(scope !== "files" && { unchecked: new Set<string>() }) });
      },
    },
    { keys: ["x"], run: () => choices.keepNew && choose({ keepNew: false }) },
    { keys: ["k"], run: () => !choices.keepNew && choose({ keepNew: true }) },
  ];
}
