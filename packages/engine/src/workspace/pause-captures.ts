/** Begins and ends pauses: what was not captured is captured before one and after it. */
import { withCapture } from "../capture/with-capture.ts";
import { appendEvent, type EventRow } from "../history/events.ts";
import type { Pause } from "../model/pause.ts";
import type { Runner } from "./runner.ts";

/** Captures the present state, then stops automatic captures until the pause ends. */
export async function pauseCaptures(runner: Runner, pause: Pause, scope: "workspace" | "all"): Promise<void> {
  const { pauses } = runner.context;
  const { since, until } = pause;
  // a pause that is made longer has nothing new to capture; that of all may have reached this workspace already
  if (pauses.current === null || pauses.current.since === since) await capture(runner, "Before the pause");
  pauses.set(pause, scope);
  tell(runner, "pause", { detail: { since, until, scope }, type: "capture_paused", data: { until } });
}

/** Ends a pause and captures what changed in it, unless a pause of all goes on. */
export async function resumeCaptures(runner: Runner, scope: "workspace" | "all"): Promise<void> {
  const { pauses } = runner.context;
  // first of all: whatever goes wrong after it, captures are made again
  pauses.set(null, scope);
  tell(runner, "resume", { detail: { scope }, type: "capture_resumed", data: {} });
  if (pauses.current === null) await capture(runner, "After the pause");
}

async function capture(runner: Runner, description: string): Promise<void> {
  const request = { kind: "safety" } as const;
  await runner.take(() =>
    withCapture(runner.context, {}, (captured) => captured.record({ request, description })),
  );
}

function tell(
  runner: Runner,
  kind: "pause" | "resume",
  { detail, type, data }: Pick<EventRow, "type" | "data"> & { readonly detail: Record<string, unknown> },
): void {
  const { db, context, events } = runner;
  db.transaction(() => {
    runner.log(kind, detail);
    appendEvent(db, { type, data, thread: null, at: context.system.now() });
  });
  events.wake();
}
