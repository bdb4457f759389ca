/** What is wrong with the whole, and how well the workspace is protected. */
import { useEffect, useState } from "react";
import type { CallOutput } from "@belay/protocol";
import type { HistoryState } from "../../data/history.ts";
import { useSource, useSourceState } from "../../data/source.tsx";
import type { Line } from "../../frame/line.ts";
import { size } from "../../text/quantity.ts";
import { clockSeconds, nearTime } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { STATE_WORDS } from "../../words.ts";
import { stripLines } from "./head.ts";

/** What the head of the timeline says about it. */
export interface Protection {
  /** At the right edge of a wide window. */
  readonly text: string | undefined;
  /** Sentences that must not be missed, most serious first. */
  readonly strips: readonly Line[];
}

type Status = CallOutput<"GET /api/status">;

/** After the first rows, which must not wait for it. */
const FIRST_MS = 400;
const AGAIN_MS = 30_000;
/** A resident process that starts now is no news. */
const PATIENCE_MS = 3000;

/** Keeps what is known of how the workspace is protected. */
export function useProtection(state: HistoryState, columns: number): Protection {
  const isUnknown = state.now?.changed === null;
  const status = useStatus(`${state.now?.failing?.since} ${isUnknown}`);
  const isAlone = useIsAlone();
  const source = useSource();
  const isLost = useSourceState() === "lost";
  const strips = [
    ...(isUnknown && status?.exists === false ? [STATE_WORDS.gone] : []),
    ...failureStrip(state.now?.failing ?? null, status, source.place.clock()),
    ...(status?.damage ? [STATE_WORDS.damaged(status.damage.checkpoints, status.damage.sound)] : []),
    ...(isLost ? [STATE_WORDS.lost(clockSeconds(state.now?.at ?? source.place.clock()))] : []),
    ...(isAlone && !isLost ? [STATE_WORDS.alone] : []),
    ...(state.problem !== undefined && state.rows.length > 0 && !isLost
      ? [[state.problem.message, state.problem.hint]]
      : []),
  ];
  return {
    text:
      status === undefined
        ? undefined
        : STATE_WORDS.protection(
            status.watching.state === "live",
            STATE_WORDS.disk(size(status.disk.bytes), size(status.disk.capBytes)),
          ),
    strips: strips.slice(0, 1).flatMap((strip) => stripLines(strip, columns)),
  };
}

/** Captures that fail, most often because the store is full. */
function failureStrip(
  failing: NonNullable<HistoryState["now"]>["failing"],
  status: Status | undefined,
  clock: number,
) {
  const { bytes = 0, capBytes = Number.POSITIVE_INFINITY, fullSince = null } = status?.disk ?? {};
  const since = fullSince ?? failing?.since;
  const time = since === undefined ? undefined : nearTime(Date.parse(since), clock);
  if (fullSince !== null || bytes >= capBytes) return [STATE_WORDS.full(time)];
  return failing === null ? [] : [STATE_WORDS.failing(time!, visibleLine(failing.problem))];
}

/** `known`: what the rows' answers tell of the whole; a change of that is a reason to ask again. */
function useStatus(known: string): Status | undefined {
  const source = useSource();
  const [status, setStatus] = useState<Status>();
  useEffect(() => {
    // without an answer the head says less; the request for the rows says what is wrong
    const ask = () =>
      void source
        .call("GET /api/status", { query: { workspace: source.place.workspace } })
        .then(setStatus, () => undefined);
    const first = setTimeout(ask, FIRST_MS);
    const again = setInterval(ask, AGAIN_MS);
    return () => {
      clearTimeout(first);
      clearInterval(again);
    };
  }, [source, known]);
  return status;
}

/** Whether the resident process is missing for longer than it takes to start. */
function useIsAlone(): boolean {
  const source = useSource();
  const state = useSourceState();
  const [isAlone, setAlone] = useState(false);
  const isMissing = state === "store" && source.place.expectsResident;
  useEffect(() => {
    if (!isMissing) {
      setAlone(false);
      return undefined;
    }
    const timer = setTimeout(() => setAlone(true), PATIENCE_MS);
    return () => clearTimeout(timer);
  }, [isMissing]);
  return isAlone;
}
