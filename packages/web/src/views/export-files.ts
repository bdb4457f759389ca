/** The files of a state as a tar archive, saved by the browser. */
import { afterOf, targetOf, type Belay, type HistoryRow } from "@belay/react";
import { routePath } from "@belay/protocol/client";

/** How long the browser may take to begin saving. */
const SAVING_MS = 60_000;

/** The state that the export of a row holds: the one after it, or the one that it is. */
export function exportedState(row: HistoryRow): string | undefined {
  return afterOf(row)?.checkpoint ?? targetOf(row)?.checkpoint;
}

/** Fetches the archive with the page's key and hands it to the browser; gives its name. */
export async function exportFiles({ client, workspace }: Belay, row: HistoryRow): Promise<string> {
  const id = exportedState(row)!;
  const path = routePath("GET /api/checkpoints/:id/archive", { params: { id }, query: { workspace } });
  const address = URL.createObjectURL(await client.bytes(path));
  const link = document.createElement("a");
  link.href = address;
  link.download = `belay-${row.ref}.tar`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), SAVING_MS);
  return link.download;
}
