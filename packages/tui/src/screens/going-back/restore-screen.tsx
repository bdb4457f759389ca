/**
 * The preview of a restore or a reset: what would become of each file, and every choice about it. Only `y` acts, on
 * the plan that is on the screen; each choice makes another plan. If the files moved on, the new plan is shown with its
 * new lines marked, and `y` has to be pressed again.
 */
import { useMemo, useState, type ReactNode } from "react";
import { useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import { box, fit, line, span, type Line, type Look } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import type { Plan, PlanFile } from "../../plans/plan.ts";
import { resultText } from "../../plans/result-text.ts";
import { displayWidth } from "../../text/display-width.ts";
import { visibleLine } from "../../text/visible.ts";
import { fitLine } from "../../text/wrap.ts";
import { GOING_BACK, TITLES } from "../../words.ts";
import { itemKey, previewGroups, type Item } from "./preview-items.ts";
import { choiceLines, previewLines, warningLines, type Preview, type PreviewLine } from "./preview-lines.ts";
import { restoreKeys } from "./restore-keys.tsx";
import { RunningPlan } from "./running-plan.tsx";
import { sayResult } from "./say-result.ts";
import { useHeld } from "./use-held.ts";
import { useRestoring, type RestoreProps, type Restoring } from "./use-restoring.ts";

/** The screen that previews a restore and carries it out. */
export function RestoreScreen(props: RestoreProps): ReactNode {
  const { target } = props;
  const frame = useFrame();
  const restoring = useRestoring(props);
  const { plan, choices } = restoring;
  const isConversation = choices.scope === "conversation";
  // of a conversation that goes back alone, no file is concerned
  const others = isConversation ? [] : restoring.others;
  const [pointed, setPointed] = useState<string>();
  const [open, setOpen] = useState<ReadonlySet<PlanFile["change"]>>(new Set());
  const [running, setRunning] = useState<Plan>();
  const held = useHeld();
  const head = headLines(frame, props, restoring);
  const foot = footLines(frame, restoring);
  const rows = bodyRows(frame, { head, foot, keys: [] }) - 1;
  const groups = useMemo(
    () => (plan && !isConversation ? previewGroups(plan, { open, rows }) : []),
    [plan, isConversation, open, rows],
  );
  const items = [
    ...groups.flatMap((group) => group.items),
    ...others.map((work): Item => ({ is: "alone", work })),
  ];
  const found = items.findIndex((each) => itemKey(each) === pointed);
  const at = Math.max(0, found);
  const item = items[at];
  const table = restoreKeys({
    frame,
    props,
    restoring,
    items,
    at,
    run: (wanted) => held.isPressed() && setRunning(wanted),
    point: setPointed,
    open: (change) => setOpen(new Set([...open, change])),
  });
  const keys = useKeys(running === undefined ? table : []);
  const again = (isStale: boolean, ...remark: readonly string[]) => {
    held.refuse();
    setRunning(undefined);
    restoring.say(...remark);
    restoring.again(isStale);
  };
  if (running !== undefined)
    return (
      <RunningPlan
        plan={running}
        before={restoring.fork}
        done={(outcome) => {
          const facts = { words: target.words, forked: restoring.forked(), isConversation };
          sayResult(frame, resultText(running, outcome, facts));
          (props.finished ?? frame.closeToFirst)();
        }}
        stale={() => again(true, GOING_BACK.stale, GOING_BACK.again)}
        conflicts={() => again(false, GOING_BACK.stale)}
        failed={(message) => again(false, message)}
      />
    );
  const pointedKey = item === undefined ? undefined : itemKey(item);
  const lines = bodyLines(frame, restoring, { groups, others, pointed: pointedKey });
  const room = bodyRows(frame, { head, foot, keys });
  return <Page head={head} body={windowed(lines, pointedKey, room)} foot={foot} keys={keys} />;
}

/** The files of the plan; of a conversation that goes back alone there is no more to say. */
function bodyLines(
  { columns: width, signs }: Frame,
  restoring: Restoring,
  shown: Pick<Preview, "groups" | "others" | "pointed">,
): PreviewLine[] {
  const { plan, choices, fresh } = restoring;
  if (!plan) return [{ line: line(`  ${waitingText(restoring)}`) }];
  if (choices.scope === "conversation") return [];
  return previewLines({ plan, ...shown, ...choices, fresh, width, signs });
}

function waitingText({ plan, error }: Restoring): string {
  if (plan === null) return GOING_BACK.nothing;
  return error === undefined ? GOING_BACK.planning : "";
}

function headLines(frame: Frame, { kind, target }: RestoreProps, { choices, plan }: Restoring): Line[] {
  const { columns: width, signs } = frame;
  const time = target.time === "" ? "" : `, ${target.time}`;
  // a long prompt is cut, not its time
  const title = [...fit(line(target.words), width - 4 - time.length, signs), span(time)];
  const note = target.note === null ? [] : [line(target.note, { dim: true })];
  return [
    ...box([title, ...note], { width, signs, title: TITLES[kind] }),
    ...(kind === "restore" ? choiceLines(choices, width) : []),
    ...(choices.scope === "files" ? [] : wrapped(GOING_BACK.conversation[choices.scope], width)),
    ...(plan ? warningLines(plan, { width, signs }) : []),
    [],
  ];
}

function footLines({ columns }: Frame, { plan, remark, error, choices }: Restoring): Line[] {
  const remarks = (error === undefined ? remark : [error]).flatMap((text) =>
    wrapped(text, columns, { colour: "yellow" }),
  );
  if (choices.scope === "conversation")
    return [[], ...remarks, ...wrapped(GOING_BACK.undoable, columns, { dim: true })];
  const git = plan?.git.now;
  const whole = git ? `${GOING_BACK.saved} ${GOING_BACK.git(gitWords(git))}` : GOING_BACK.saved;
  const saved = displayWidth(whole) + 2 <= columns ? whole : GOING_BACK.saved;
  return [[], ...remarks, ...wrapped(saved, columns, { dim: true })];
}

/** A sentence, whole, below the ones before it. */
function wrapped(text: string, columns: number, look: Look = {}): Line[] {
  return fitLine(`  ${text}`, columns, "  ")
    .split("\n")
    .map((part) => line(part, look));
}

function gitWords({ branch, commit, stagedTotal }: NonNullable<Plan["git"]["now"]>): string {
  const where = [branch === null ? "" : visibleLine(branch), commit?.slice(0, 7) ?? ""]
    .filter(Boolean)
    .join(" ");
  return stagedTotal > 0 ? `${where}, ${stagedTotal} staged` : where;
}

/** As many lines as there is room for, the pointed one among them. */
function windowed(lines: readonly PreviewLine[], pointed: string | undefined, room: number): Line[] {
  const at = pointed === undefined ? 0 : lines.findIndex(({ key }) => key === pointed);
  const from = Math.max(0, Math.min(lines.length - room, at - Math.floor(room / 2)));
  return lines.slice(from, from + room).map((each) => each.line);
}
