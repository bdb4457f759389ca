/** What is known about a row: its checkpoint, its files, and which tool changed each. */
import type { CallOutput } from "@belay/protocol";
import { useEffect, useState } from "react";
import { loadComparedFiles, type ComparedFile } from "../../data/comparisons.ts";
import type { Chosen, HistoryRow, HistoryStep } from "../../data/history-row.ts";
import { useHistory } from "../../data/use-history.ts";
import { useSource, type Source } from "../../data/source.tsx";
import { useThreads, type ThreadFacts } from "../../data/use-threads.ts";
import { gapWords } from "../../text/reasons.ts";
import { nearTime } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { DETAIL_WORDS } from "../../words.ts";
import { isState } from "../timeline/marks.ts";
import { changePair } from "../timeline/row-diff.tsx";

/** A changed file, and what changed it. */
export interface DetailedFile extends ComparedFile {
  readonly by?: string;
}

/** A checkpoint with what it changed and leaves out. */
export type CheckpointFacts = CallOutput<"GET /api/checkpoints/:id">;

/** Everything about a row. */
export interface Details {
  /** As it is now: its note may have changed meanwhile. */
  readonly row: HistoryRow;
  readonly step: HistoryStep | undefined;
  readonly thread: ThreadFacts | undefined;
  readonly checkpoint: CheckpointFacts["checkpoint"] | undefined;
  /** The size of the content that came into the store with it; undefined while that is not known. */
  readonly newBytes: number | undefined;
  readonly files: readonly DetailedFile[] | undefined;
  readonly gaps: readonly string[];
  readonly late: readonly string[];
  readonly problem: string | undefined;
}

const MOST_STEPS = 50;
const MOST_HANDS = 5;

/** Loads the details of a row or step. */
export function useDetails({ row: given, step }: Chosen): Details {
  const source = useSource();
  const { state } = useHistory({});
  const row = state.rows.find(({ ref }) => ref === given.ref) ?? given;
  const [before, setBefore] = useState<CheckpointFacts>();
  const [after, setAfter] = useState<CheckpointFacts>();
  const [files, setFiles] = useState<readonly DetailedFile[]>();
  const [problem, setProblem] = useState<string>();
  const thread = useThreads(row.thread).get(row.thread ?? "");
  const { ref, after: afterId } = row;
  const beforeId = step?.before ?? given.id;
  const sinceId = step?.before ?? row.before;
  const hands = handsAfter(given, state.rows);
  useEffect(() => {
    let isWanted = true;
    const fail = (error: Error) => isWanted && setProblem(error.message);
    const show =
      <Answer>(set: (answer: Answer) => void) =>
      (answer: Answer) =>
        void (isWanted && set(answer));
    const lastId = step?.after ?? afterId;
    checkpointOf(source, beforeId).then(show(setBefore), fail);
    if (lastId !== null) checkpointOf(source, lastId, sinceId).then(show(setAfter), fail);
    filesOf(source, { row: { ...given, after: afterId }, step }, hands).then(show(setFiles), fail);
    return () => {
      isWanted = false;
    };
    // the row itself is a new one with every answer
  }, [source, ref, beforeId, sinceId, afterId, step?.seq, hands.map((hand) => hand.ref).join(" ")]);
  const last = after ?? before;
  return {
    row,
    step,
    thread,
    checkpoint: before?.checkpoint,
    newBytes: after?.newBytes,
    files,
    gaps:
      last?.checkpoint.gaps.map((gap) =>
        DETAIL_WORDS.gap(visibleLine(gap.path), visibleLine(gapWords(gap, last.limits))),
      ) ?? [],
    late: last?.checkpoint.doubts.map(({ path }) => visibleLine(path)) ?? [],
    problem,
  };
}

/** A checkpoint with what it leaves out; what is new in it is counted against `since`. */
export function checkpointOf(
  source: Source,
  id: string,
  since: string | null = null,
): Promise<CheckpointFacts> {
  return source.call("GET /api/checkpoints/:id", {
    params: { id },
    query: { workspace: source.place.workspace, ...(since !== null && { since }) },
  });
}

/** Rows whose own changes are a person's: what your checkpoints found changed is yours too. */
const BY_HAND = new Set<HistoryRow["kind"]>(["hand", "checkpoint"]);

/** Changes by hand after a row, oldest first; of many the nearest. */
function handsAfter({ seq }: HistoryRow, rows: readonly HistoryRow[]): HistoryRow[] {
  const later = rows.filter((row) => BY_HAND.has(row.kind) && row.seq > seq);
  return later.toReversed().slice(0, MOST_HANDS);
}

/** The files of a row with what changed them; of a state, what differs from the disk. */
async function filesOf(
  source: Source,
  chosen: Chosen,
  hands: readonly HistoryRow[],
): Promise<DetailedFile[]> {
  const { row } = chosen;
  const { files } = await loadComparedFiles(source, changePair(chosen));
  if (isState(row) || row.kind !== "turn" || chosen.step !== undefined) return files;
  const tools = await toolsOf(source, row, { isWanted: () => true, named: toolOf });
  const byHand = new Map<string, string>();
  for (const hand of hands) {
    const own = { from: hand.before ?? hand.id, to: hand.after ?? hand.id, own: { ref: hand.ref } };
    const { files: changed } = await loadComparedFiles(source, own, "names");
    for (const { path } of changed)
      byHand.set(path, DETAIL_WORDS.byHand(nearTime(Date.parse(hand.at), source.place.clock())));
  }
  return files.map((file) => {
    const by = [tools.get(file.path), byHand.get(file.path)].filter((each) => each !== undefined);
    return by.length === 0 ? file : { ...file, by: by.join(", ") };
  });
}

/** The tools of a turn by the files that they changed. */
export async function toolsOf(
  source: Source,
  row: HistoryRow,
  { isWanted, named }: { isWanted(step: HistoryStep): boolean; named(step: HistoryStep): string },
): Promise<ReadonlyMap<string, string>> {
  const query = { workspace: source.place.workspace };
  const { steps } = await source.call("GET /api/history/:seq/steps", { params: { seq: row.ref }, query });
  const tools = new Map<string, Set<string>>();
  for (const step of steps.filter(isWanted).slice(0, MOST_STEPS)) {
    const changed = await loadComparedFiles(source, changePair({ row, step }), "names");
    for (const { path } of changed.files) tools.set(path, (tools.get(path) ?? new Set()).add(named(step)));
  }
  return new Map([...tools].map(([path, names]) => [path, [...names].join(", ")]));
}

function toolOf({ tool, nature, summary }: HistoryStep): string {
  const name = visibleLine(tool ?? "");
  return nature === "command" && summary !== null ? `${name}: ${visibleLine(summary)}` : name;
}
