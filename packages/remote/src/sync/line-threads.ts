/** The threads of other lines, from their records. */
import { ContractError } from "@belay/protocol/errors";
import type { LineRecords } from "./line-records.ts";
import { otherLines } from "./other-lines.ts";

/** A thread of another line, and its newest checkpoint. */
export interface LineThread {
  readonly line: string;
  /** Who writes the line, as lists show it. */
  readonly writer: string;
  readonly thread: string;
  readonly title: string | null;
  readonly checkpoint: string;
}

/** The thread that `<line>/<thread>` or `<thread>` means, by its id or the beginning of it. */
export function findLineThread(known: Parameters<typeof otherLines>[0], reference: string): LineThread {
  const id = reference.slice(reference.lastIndexOf("/") + 1);
  const wanted = reference.slice(0, Math.max(0, reference.length - id.length - 1));
  const lines = otherLines(known).filter(({ line, name }) => ["", line, name].includes(wanted));
  const found = lines.flatMap(({ line, name }) =>
    [...known.records.ofKind(line, "thread")]
      .filter((record) => id.length >= 4 && record.id.startsWith(id))
      .flatMap(({ id: thread, row }) => {
        const checkpoint = newestOf(known.records, line, thread);
        const title = typeof row["title"] === "string" ? row["title"] : null;
        return checkpoint === undefined ? [] : [{ line, writer: name, thread, title, checkpoint }];
      }),
  );
  if (found.length === 1) return found[0]!;
  const why =
    found.length === 0
      ? `No other line has a thread "${reference}".`
      : `"${reference}" fits several threads.`;
  throw new ContractError("THREAD_NOT_FOUND", `${why} Nothing was changed.`, {
    hint: "Write <remote>/<line>/<thread>, with at least four letters of its id; `belay pull` looks at the lines again.",
    facts: { thread: reference },
  });
}

function newestOf(records: LineRecords, line: string, thread: string): string | undefined {
  for (const { id, row } of records.ofKind(line, "checkpoint"))
    if (row["thread"] === thread && row["pruned_at"] === undefined && row["origin"] === undefined) return id;
  return undefined;
}
