/** Which tool calls of a turn changed what? */
import {
  listStepCaptures,
  listStepChanges,
  previousSeqs,
  readEnds,
  type StepCapture,
} from "../history/timeline-facts.ts";
import { displayPath } from "../model/byte-path.ts";
import type { Edit } from "../model/plan.ts";
import type { TimelineStep } from "../model/timeline.ts";
import type { Database } from "../store/database.ts";
import { netChanges, type ChangeCounter } from "./net-changes.ts";
import { inOneLine } from "./timeline-titles.ts";

/** The steps of a turn, oldest first; calls that changed nothing are left out. */
export function stepsOf(db: Database, step: string, lines: ChangeCounter): TimelineStep[] {
  const captures = listStepCaptures(db, step);
  const changes = Map.groupBy(listStepChanges(db, [step]).get(step) ?? [], ({ checkpoint }) => checkpoint);
  const previous = previousSeqs(
    db,
    captures.map(({ end }) => end.seq),
  );
  const ends = readEnds(db, previous.values());
  return captures.flatMap((capture) => {
    const { end, tool, nature } = capture;
    const edits = netChanges(changes.get(end.seq) ?? []);
    const counts = lines.count(edits);
    if (counts.added + counts.modified + counts.deleted === 0) return [];
    return [
      {
        ...counts,
        seq: end.seq,
        id: end.id,
        at: end.at,
        tool,
        summary: summaryOf(capture, edits),
        nature,
        before: ends.get(previous.get(end.seq) ?? 0)?.id ?? null,
        after: end.id,
      },
    ];
  });
}

/** What the agent said the call was about, else the file it changed. */
function summaryOf({ tool, announced }: StepCapture, edits: readonly Edit[]): string | null {
  const said =
    announced?.startsWith(`Before ${tool}: `) === true ? announced.slice(`Before ${tool}: `.length) : null;
  if (said !== null) return inOneLine(said);
  const files = edits.filter(({ from, to }) => (to ?? from)?.kind !== "directory");
  return files.length === 1 ? displayPath(files[0]!.path) : null;
}
