/**
 * The preview of a restore or a reset: what would become of each file, and every choice about it. Only `y` acts, on
 * the plan that is on the screen; each choice makes another plan. If the files moved on, the new plan is shown with its
 * new lines marked, and `y` has to be pressed again.
 */
import { useMemo, useState, type ReactNode } from "react";
import { useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import { box, fit, line, span, type Line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import type { Plan, PlanFile } from "../../plans/plan.ts";
import { resultText } from "../../plans/result-text.ts";
import { visibleLine } from "../../text/visible.ts";
import { GOING_BACK, TITLES } from "../../words.ts";
import { itemKey, previewGroups, type Item } from "./preview-items.ts";
import { choiceLines, previewLines, warningLines, type PreviewLine } from "./preview-lines.ts";
import { restoreKeys } from "./restore-keys.tsx";
import { RunningPlan } from "./running-plan.tsx";
import { sayResult } from "./say-result.ts";
import { useHeld } from "./use-held.ts";
import { useRestoring, type RestoreProps, type Restoring } from "./use-restoring.ts";

/** The preview. */
export function RestoreScreen(props: RestoreProps): ReactNode {
  const { target } = props;
  const frame = useFrame();
  const restoring = useRestoring(props);
  const { plan, others, choices } = restoring;
  const [pointed, setPointed] = useState<string>();
  const [open, setOpen] = useState<ReadonlySet<PlanFile["change"]>>(new Set());
  const [running, setRunning] = useState<Plan>();
  const held = useHeld();
  const head = headLines(frame, props, restoring);
  const foot = footLines(frame, restoring);
  const rows = bodyRows(frame, { head, foot, keys: [] }) - 1;
  const groups = useMemo(() => (plan ? previewGroups(plan, { open, rows }) : []), [plan, open, rows]);
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
          const facts = { words: target.words, forked: restoring.forked() };
          sayResult(frame, resultText(running, outcome, facts));
          (props.finished ?? frame.closeToFirst)();
        }}
        stale={() => again(true, GOING_BACK.stale, GOING_BACK.again)}
        conflicts={() => again(false, GOING_BACK.stale)}
        failed={(message) => again(false, message)}
      />
    );
  const pointedKey = item === undefined ? undefined : itemKey(item);
  const { columns: width, signs } = frame;
  const lines = plan
    ? previewLines({
        plan,
        groups,
        others,
        pointed: pointedKey,
        ...choices,
        fresh: restoring.fresh,
        width,
        signs,
      })
    : [{ line: line(`  ${waitingText(restoring)}`) }];
  const room = bodyRows(frame, { head, foot, keys });
  return <Page head={head} body={windowed(lines, pointedKey, room)} foot={foot} keys={keys} />;
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
    ...(plan ? warningLines(plan, { width, signs }) : []),
    [],
  ];
}

function footLines({ columns }: Frame, { plan, remark, error }: Restoring): Line[] {
  const remarks = (error === undefined ? remark : [error]).map((text) =>
    line(`  ${text}`, { colour: "yellow" }),
  );
  const saved = `  ${GOING_BACK.saved}`;
  const git = plan?.git.now;
  const whole = git ? `${saved} ${GOING_BACK.git(gitWords(git))}` : saved;
  return [[], ...remarks, line(whole.length <= columns ? whole : saved, { dim: true })];
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
