/** The preview of going back: what it would do, what stays, and the one button that does it. */
import { useEffect, useMemo, useState, type ReactNode } from "react";
import { ClientError } from "@belay/protocol/client";
import { useLiveState } from "../data/belay.tsx";
import { Dialog } from "../parts/dialog.tsx";
import { Icon } from "../parts/icon.tsx";
import { ago, agentName, dayAndClock, duration, gitWords, quantity, visible, WORDS } from "../words.ts";
import { Applying } from "./applying.tsx";
import { OnlyTalk, RestoreChoices } from "./plan-choices.tsx";
import { PlanMore } from "./plan-more.tsx";
import { PlannedFiles } from "./planned-files.tsx";
import { PlannedLines } from "./planned-lines.tsx";
import {
  confirmWords,
  stepWords,
  titleWords,
  VERBS,
  type DetailedPlan,
  type PlanBody,
  type PlanOutcome,
  type PlanRequest,
} from "./request.ts";
import { decidable, isRestoreRunning, NO_CHOICES, usePlan, type Choices, type Scope } from "./use-plan.ts";

/** What the dialog is about and what happens after it. */
export interface PlanDialogProps {
  readonly request: PlanRequest;
  onClose(): void;
  onDone(outcome: PlanOutcome, plan: DetailedPlan, scope: Scope): void;
  /** The host carries out the whole plan by itself: then nothing can be chosen here. */
  onConfirm?(): void;
  /** Opens the view in which conflicts are decided; without it they are only named. */
  onDecide?(plan: PlanBody): void;
}

/** The preview of going back: what would change, and the button that does it. */
export function PlanDialog({ request, onClose, onDone, onConfirm, onDecide }: PlanDialogProps): ReactNode {
  const [choices, setChoices] = useState<Choices>(() => firstChoices(request));
  const [selected, setSelected] = useState<string>();
  const state = usePlan(request, choices, (outcome) => onDone(outcome, state.plan!, choices.scope));
  const { plan, whole } = state;
  const choose = (part: Partial<Choices>) => setChoices({ ...choices, ...part });
  const files = plan?.files.length ?? 0;
  const isDangerous = deletes(plan) || choices.except !== undefined;
  // a choice is seen at once, also while its plan is being made
  const hunks = choices.basedOn === undefined ? state.hunks : choices.hunks;
  const current = selected ?? whole?.files[0]?.path;
  // these take a step, or what is pending, whole
  const isFixed = request.kind === "redo" || request.kind === "reset" || onConfirm !== undefined;
  const toDecide = onDecide && decidable(request, choices);
  const act = () => {
    if (onConfirm === undefined) void state.apply();
    // what was not shown yet cannot be confirmed
    else if (plan && !state.isPlanning) onConfirm();
  };
  return (
    <Dialog
      title={titleWords(request, whole)}
      about={whole === undefined && state.error ? "Nothing has changed." : aboutWords(request, whole)}
      isDangerous={isDangerous}
      isSmall={(whole?.files.length ?? 0) <= 1 && !isDangerous}
      isBusy={state.isApplying}
      onClose={onClose}
      onConfirm={act}
    >
      <div className="b-dialog-choices">
        {onConfirm === undefined ? (
          <HowFar request={request} choices={choices} hasStep={Boolean(whole)} onChange={choose} />
        ) : null}
        <Warnings state={state} request={request} onDecide={toDecide && (() => onDecide(toDecide))} />
      </div>
      {state.isApplying ? (
        <Applying files={files} progress={state.progress} />
      ) : choices.scope === "conversation" ? (
        <OnlyTalk />
      ) : whole ? (
        <div className="b-split">
          <PlannedFiles
            plan={whole}
            without={choices.without}
            stale={state.stale}
            isFixed={isFixed}
            selected={current}
            onSelect={setSelected}
            onToggle={(paths, isIn) => choose({ without: withPaths(choices.without, paths, isIn) })}
            {...(request.kind === "restore" &&
              !isFixed && {
                onTake: (thread: string) => choose({ except: othersThan(whole, thread, choices.except) }),
              })}
          />
          <PlannedLines
            plan={whole}
            path={current}
            chosen={hunks}
            {...(!isFixed && {
              onHunks: (path: string, some: readonly number[] | undefined) =>
                choose({ hunks: withHunks(hunks, path, some), basedOn: whole.id }),
            })}
          />
        </div>
      ) : null}
      <PlanMore {...{ request, choices }} plan={state.isApplying || onConfirm ? null : plan} />
      <Footer {...{ state, files, request, isDangerous, onClose }} scope={choices.scope} onAct={act} />
    </Dialog>
  );
}

function firstChoices({ count = 1, takesAll = false }: PlanRequest): Choices {
  return { ...NO_CHOICES, count, except: takesAll ? [] : undefined };
}

function deletes(plan: DetailedPlan | null | undefined): boolean {
  return (plan?.files ?? []).some(({ change }) => change === "delete");
}

/** What goes back, and how far. */
function HowFar(props: {
  readonly request: PlanRequest;
  readonly choices: Choices;
  readonly hasStep: boolean;
  onChange(part: Partial<Choices>): void;
}): ReactNode {
  const { request, choices, hasStep, onChange } = props;
  if (request.kind === "restore" && request.paths === undefined)
    return <RestoreChoices choices={choices} hasThread={request.thread !== undefined} onChange={onChange} />;
  if ((request.kind !== "undo" && request.kind !== "redo") || !hasStep) return null;
  return (
    <button type="button" className="b-btn b-s" onClick={() => onChange({ count: choices.count + 1 })}>
      One more step
    </button>
  );
}

/** "The files as they were today at 10:42, 11 minutes ago. 12 files change, 5 of them are deleted." */
function aboutWords(request: PlanRequest, plan: DetailedPlan | null | undefined): ReactNode {
  if (plan === undefined) return "Looking at the files…";
  if (plan === null) return nothingWords(request);
  const deleted = plan.files.filter(({ change }) => change === "delete").length;
  const counts = `${quantity(plan.files.length, "file")} ${plan.files.length === 1 ? "changes" : "change"}${deleted > 0 ? `, ${deleted} of them ${deleted === 1 ? "is" : "are"} deleted` : ""}.`;
  const when =
    request.at === undefined ? "" : `The files as they were ${dayAndClock(request.at)}, ${ago(request.at)}. `;
  const step = request.kind === "undo" || request.kind === "redo" ? stepWords(plan) : undefined;
  return (
    <>
      {step === undefined ? null : <span className="b-said">{visible(step)} · </span>}
      {when}
      {counts}
      {request.note ? <span className="b-said"> {visible(request.note)}</span> : null}
    </>
  );
}

function nothingWords({ kind }: PlanRequest): string {
  if (kind === "undo") return "Nothing to undo: there is no step left that changed anything.";
  if (kind === "redo") return "Nothing to redo.";
  return "The files are already like this. There is nothing to do.";
}

type State = ReturnType<typeof usePlan>;

interface WarningsProps {
  readonly state: State;
  readonly request: PlanRequest;
  /** Undefined where conflicts of this plan cannot be decided. */
  readonly onDecide: (() => void) | undefined;
}

/** At most two at once, most serious first; a refusal stands above all. */
function Warnings({ state, request, onDecide }: WarningsProps): ReactNode {
  const { plan, error, stale } = state;
  const notes: ReactNode[] = [];
  if (error !== undefined)
    notes.push(<Refusal key="error" error={error} state={state} kind={request.kind} onDecide={onDecide} />);
  if (plan === null && state.whole)
    notes.push(
      <Note key="nothing" look="b-acc" strong="Nothing is chosen, or it is like this already.">
        There is nothing to do.
      </Note>,
    );
  if (stale !== undefined)
    notes.push(
      <Note key="stale" look="b-warn" strong="The files changed since this preview.">
        {staleWords(stale, state.newer === undefined ? state.whole : state.newer.whole)} Nothing was restored.{" "}
        {state.newer === undefined ? (
          "This is the new preview; confirm again."
        ) : (
          <button type="button" className="b-btn b-s" onClick={state.showNewer}>
            Show the new preview
          </button>
        )}
      </Note>,
    );
  for (const { agent } of plan?.working ?? [])
    notes.push(
      <Note key={`working ${agent}`} look="b-warn" strong={`${agentName(agent)} is working right now.`}>
        What it writes while you restore stays as it wrote it, and is listed.
      </Note>,
    );
  if ((plan?.files ?? []).some(({ marks }) => marks.includes("scripts")))
    notes.push(
      <Note key="scripts" look="b-warn" strong="Scripts, hooks or agent settings change.">
        Look at the files with the mark “scripts” before you run anything.
      </Note>,
    );
  const shared = request.kind === "restore" ? alsoChangedBy(plan) : [];
  if (shared.length > 0)
    notes.push(
      <Note key="shared" look="b-acc" strong={`${shared.join(" and ")} changed some of these files too.`}>
        Undo only this keeps {shared.map((agent) => `${agent}’s`).join(" and ")} lines.
      </Note>,
    );
  const meanwhile = plan?.meanwhile ?? [];
  if (meanwhile.length > 0)
    notes.push(
      <Note key="meanwhile" look="b-acc" strong="Changed meanwhile by hand, stays:">
        {visible(
          meanwhile
            .slice(0, 3)
            .map(({ path }) => path)
            .join(", "),
        )}
        {meanwhile.length > 3 ? ` ${WORDS.more(meanwhile.length - 3)}` : ""}
      </Note>,
    );
  // the server says of working agents what stands above already
  const others = (plan?.warnings ?? []).filter((warning) => !warning.includes("is working right now"));
  for (const warning of others) notes.push(<Note key={warning} look="b-warn" strong={visible(warning)} />);
  // a refusal is said at once; the rest when the reader has finished a sentence
  const isRefused = error !== undefined || stale !== undefined;
  return (
    <div role="status" aria-live={isRefused ? "assertive" : "polite"}>
      {notes.slice(0, 2)}
    </div>
  );
}

const ALSO = " too";

/** The other agents whose lines are in files that would change. */
function alsoChangedBy(plan: DetailedPlan | null | undefined): string[] {
  const marks = (plan?.files ?? []).flatMap((file) => (file.change === "change" ? file.marks : []));
  const agents = marks.filter((mark) => mark.endsWith(ALSO) && mark !== "by hand too");
  return [...new Set(agents.map((mark) => agentName(mark.slice(0, -ALSO.length))))];
}

/** "Claude Code wrote src/budget.ts 2 s ago." Where that is not known: "src/budget.ts was written meanwhile." */
function staleWords(stale: ReadonlySet<string>, plan: DetailedPlan | null | undefined): string {
  const [first, ...others] = stale;
  if (first === undefined) return "";
  const latest = plan?.files.find(({ path }) => path === first)?.latest;
  if (latest === undefined && others.length > 0)
    return `${visible(first)} and ${quantity(others.length, "other file")} were written meanwhile.`;
  const more =
    others.length === 0
      ? ""
      : ` So ${others.length === 1 ? "was" : "were"} ${quantity(others.length, "other file")}.`;
  return `${writtenWords(visible(first), latest)}${more}`;
}

function writtenWords(path: string, latest: DetailedPlan["files"][number]["latest"]): string {
  if (latest === undefined) return `${path} was written meanwhile.`;
  const when = `${duration(Math.max(0, Date.now() - Date.parse(latest.at)))} ago`;
  if (latest.by === "agent") return `${agentName(latest.agent)} wrote ${path} ${when}.`;
  return `${path} was changed ${latest.by === "hand" ? "by hand" : "outside any agent"} ${when}.`;
}

/** "Decide for each, or undo only the other 4." */
function refusalWays(kind: PlanRequest["kind"], others: number, canDecide: boolean): string {
  const only = `${VERBS[kind].toLowerCase()} only the other ${others.toLocaleString("en")}.`;
  if (others > 0) return canDecide ? `Decide for each, or ${only}` : `You can ${only}`;
  return canDecide ? "Decide for each." : "";
}

/** The server's refusal, in its own words where the page has none. */
function Refusal({
  error,
  state,
  kind,
  onDecide,
}: Omit<WarningsProps, "request"> & {
  readonly error: Error;
  readonly kind: PlanRequest["kind"];
}): ReactNode {
  if (error instanceof ClientError && error.code === "CONFLICTS") {
    const conflicts = (state.plan?.conflicts ?? []).length;
    const others = state.plan?.files.length ?? 0;
    const undone =
      kind === "restore" ? "restored" : kind === "redo" ? "redone" : kind === "reset" ? "reset" : "undone";
    const refused =
      conflicts === 0
        ? visible(error.message)
        : `Not ${undone}: ${conflicts.toLocaleString("en")} of ${quantity(conflicts + others, "file")} ${conflicts === 1 ? "was" : "were"} changed since.`;
    return (
      <Note look="b-bad" strong={refused}>
        Nothing has changed. {refusalWays(kind, others, onDecide !== undefined)}{" "}
        {onDecide === undefined ? null : (
          <button type="button" className="b-btn b-s" onClick={onDecide}>
            Decide…
          </button>
        )}{" "}
        {others > 0 ? (
          <button type="button" className="b-btn b-s" onClick={() => void state.apply(true)}>
            {VERBS[kind]} the {others.toLocaleString("en")}
          </button>
        ) : onDecide === undefined ? (
          `Nothing can be ${undone} without deciding.`
        ) : null}
      </Note>
    );
  }
  if (error instanceof ClientError && error.code === "PREFLIGHT_FAILED")
    return <Unwritable error={error} state={state} kind={kind} />;
  return (
    <Note look="b-bad" strong={visible(error.message)}>
      {error instanceof ClientError ? visible(error.hint) : null}
    </Note>
  );
}

/** So many of the paths that cannot be written are named. */
const NAMED = 5;

/** [R1934] Files that cannot be written, each with its reason; the others can go back without them. */
function Unwritable(props: {
  readonly error: ClientError;
  readonly state: State;
  readonly kind: PlanRequest["kind"];
}): ReactNode {
  const { error, state, kind } = props;
  const { problems = [] } = error.facts as {
    readonly problems?: readonly { readonly path: string; readonly reason: string }[];
  };
  const others = (state.plan?.files.length ?? 0) - problems.length;
  const more = problems.slice(1, NAMED).map(({ path, reason }) => `${path}: ${reason}`);
  if (problems.length > NAMED) more.push(WORDS.more(problems.length - NAMED));
  return (
    <Note look="b-bad" strong={visible(error.message)}>
      {more.length === 0 ? "" : `Also ${visible(more.join("; "))}. `}
      Make {problems.length === 1 ? "it" : "them"} writable and confirm again
      {others > 0 ? `, or ${VERBS[kind].toLowerCase()} only what can be written. ` : "."}
      {others > 0 ? (
        <button type="button" className="b-btn b-s" onClick={() => void state.apply(true)}>
          {VERBS[kind]} the others
        </button>
      ) : null}
    </Note>
  );
}

function Note(props: {
  readonly look: string;
  readonly strong: string;
  readonly children?: ReactNode;
}): ReactNode {
  return (
    <div className={`b-note ${props.look}`}>
      <Icon name="warn" />
      <div className="b-grow">
        <span className="b-strong">{props.strong}</span> {props.children}
      </div>
    </div>
  );
}

function Footer(props: {
  readonly state: State;
  readonly files: number;
  readonly request: PlanRequest;
  readonly isDangerous: boolean;
  readonly scope: Scope;
  onClose(): void;
  onAct(): void;
}): ReactNode {
  const { state, request, scope } = props;
  // what is in conflict was asked for too: the refusal says so, and leads to where it is decided
  const files = props.files + (state.plan?.conflicts ?? []).length;
  const isConnected = useLiveState().kind !== "waiting";
  const git = useMemo(() => gitStays(state.plan), [state.plan]);
  const isSlow = useLate(state.isPlanning, SLOW_MS);
  const why = !isConnected
    ? "Not connected."
    : state.isPlanning
      ? "The plan is being made."
      : state.newer !== undefined
        ? "The files changed since this preview."
        : isRestoreRunning(state.error)
          ? "It can start when the other restore is done."
          : undefined;
  const canApply = (files > 0 || scope !== "files") && why === undefined && !state.isApplying;
  return (
    <footer className="b-dialog-foot">
      <span className="b-row b-grow">
        <Icon name="shield" />
        <span className="b-small b-muted">{state.isApplying ? "Working…" : `${WORDS.saved} ${git}`}</span>
      </span>
      {/* the first focus is on what changes nothing */}
      <button type="button" className="b-btn" data-first onClick={props.onClose} disabled={state.isApplying}>
        Cancel <kbd>Esc</kbd>
      </button>
      {state.plan === null ? null : (
        <button
          type="button"
          className={props.isDangerous ? "b-btn b-danger" : "b-btn b-main"}
          aria-disabled={!canApply}
          aria-busy={isSlow}
          title={why}
          onClick={() => canApply && props.onAct()}
        >
          {isSlow ? (
            <span className="b-spinner" aria-hidden="true" />
          ) : (
            <Icon name={request.kind === "redo" ? "redo" : "back"} />
          )}
          {scope === "conversation" ? "Go back in the conversation" : confirmWords(request.kind, files)}{" "}
          <kbd>Ctrl ⏎</kbd>
        </button>
      )}
    </footer>
  );
}

/** A plan that takes longer than this shows that it is being made. */
const SLOW_MS = 150;

/** True once something has gone on for a while. */
function useLate(isOn: boolean, ms: number): boolean {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    if (!isOn) return setLate(false);
    const timer = setTimeout(() => setLate(true), ms);
    return () => clearTimeout(timer);
  }, [isOn, ms]);
  return isOn && isLate;
}

/** "Git stays as it is: main 4f2c1a9, 3 staged." */
function gitStays(plan: DetailedPlan | null | undefined): string {
  const now = plan?.git.now;
  return now ? `Git stays as it is: ${gitWords(now)}.` : "";
}

function withPaths(
  without: ReadonlySet<string>,
  paths: readonly string[],
  isIn: boolean,
): ReadonlySet<string> {
  const next = new Set(without);
  for (const path of paths) {
    if (isIn) next.delete(path);
    else next.add(path);
  }
  return next;
}

function withHunks(
  before: Choices["hunks"],
  path: string,
  hunks: readonly number[] | undefined,
): Choices["hunks"] {
  const next = new Map(before);
  if (hunks === undefined) next.delete(path);
  else next.set(path, hunks);
  return next;
}

/** The threads that stay alone when this one is taken back too. */
function othersThan(plan: DetailedPlan, thread: string, except: readonly string[] | undefined): string[] {
  return (except ?? plan.leftAlone.map((each) => each.thread)).filter((each) => each !== thread);
}
