/** A plan being carried out: nothing for a moment, then a bar. It cannot be closed; the workspace finishes or takes back. */
import { useEffect, useRef, useState, type ReactNode } from "react";
import { useSource } from "../../data/source.tsx";
import { Lines, useFrame } from "../../frame/frame.tsx";
import { box, line, span, type Line } from "../../frame/line.ts";
import { applyPlan, refusalOf, type Conflict, type Outcome, type Plan } from "../../plans/plan.ts";
import type { Signs } from "../../terminal/signs.ts";
import { count, duration, grouped } from "../../text/quantity.ts";
import { visibleLine } from "../../text/visible.ts";
import { GOING_BACK } from "../../words.ts";

/** What runs, and what follows. */
export interface RunningProps {
  readonly plan: Plan;
  readonly bestEffort?: boolean;
  /** What must happen before, such as the conversation that goes back first; where it fails, nothing else happens. */
  before?(): Promise<void>;
  done(outcome: Outcome): void;
  stale(): void;
  conflicts(conflicts: readonly Conflict[]): void;
  failed(message: string): void;
}

const QUIET_MS = 400;
/** The time goes on where no progress is told, so that it never looks stuck. */
const TICK_MS = 200;
const WIDTH = 64;

/** Carries out a plan of going back, once. */
export function RunningPlan({ plan, bestEffort = false, ...after }: RunningProps): ReactNode {
  const frame = useFrame();
  const source = useSource();
  /** What was waited so far; undefined for the first moment. */
  const [elapsed, setElapsed] = useState<number>();
  /** No phase is reported until the workspace begins to save what is there. */
  const [at, setAt] = useState<At>({ phase: "saving", done: 0, total: 0 });
  const started = useRef(false);
  const began = useRef(performance.now());
  useEffect(() => {
    const timer = setInterval(() => {
      const waited = performance.now() - began.current;
      if (waited >= QUIET_MS) setElapsed(waited);
    }, TICK_MS);
    const stop = source.listen((event) => {
      if (event.type !== "restore_progress" || event.operation !== plan.id) return;
      const { phase, done, total } = event;
      setAt({ phase, done, total });
    });
    return () => {
      clearInterval(timer);
      stop();
    };
  }, [source, plan.id]);
  useEffect(() => {
    // a plan is carried out once, however often the screen is drawn
    if (started.current) return;
    started.current = true;
    const apply = async () => {
      await after.before?.();
      return applyPlan(source, { id: plan.id, workspace: source.place.workspace }, { bestEffort });
    };
    apply().then(
      (applied) => {
        if (applied.is === "done") after.done(applied.outcome);
        else if (applied.is === "stale") after.stale();
        else after.conflicts(applied.conflicts);
      },
      (error: unknown) => {
        const { message, hint } = refusalOf(error);
        after.failed(visibleLine(`${message} ${hint}`.trim()));
      },
    );
  });
  const { columns, signs } = frame;
  const width = Math.min(WIDTH, columns);
  if (elapsed === undefined) return <Lines lines={[]} />;
  const progress = { ...at, files: plan.filesTotal, elapsed };
  return <Lines lines={box(progressLines(progress, width - 4, signs), { width, signs })} />;
}

/** How far the workspace is with what it does at the moment. */
interface At {
  readonly phase: keyof typeof GOING_BACK.phases;
  readonly done: number;
  /** The files of this phase; 0 while it is not known how many there are. */
  readonly total: number;
}

/** `Restoring 1,204 files: writing` over `████░░░░   758   1.2 s`: each phase fills the bar once. */
export function progressLines(
  { phase, done, total, files, elapsed }: At & { readonly files: number; readonly elapsed: number },
  width: number,
  signs: Signs,
): Line[] {
  if (files === 0) return [line(`${GOING_BACK.rewinding}   ${duration(elapsed)}`)];
  const numbers = `   ${grouped(done)}   ${duration(elapsed)}`;
  const cells = Math.max(4, width - numbers.length - 2);
  const full = total > 0 ? Math.round(Math.min(1, done / total) * cells) : 0;
  return [
    line(GOING_BACK.restoring(count(files, "file"), GOING_BACK.phases[phase])),
    [span(signs.full.repeat(full), { colour: "cyan" }), span(signs.empty.repeat(cells - full) + numbers)],
  ];
}
