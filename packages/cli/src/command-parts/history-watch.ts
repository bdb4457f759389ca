/** `log --watch`: what happens, as it happens. A row is printed when it appears and again when it becomes another. */
import type { TimelineOptions, TimelineRow, UncapturedTurn, Workspace } from "@belay/engine";
import { historyRowJson, uncapturedJson } from "@belay/server/json";
import { EXIT } from "@belay/protocol/errors";
import { redactJson } from "@belay/protocol/redact";
import type { Call } from "../call/command.ts";
import { historyLine, inOrder } from "../output/history-table.ts";

/** How many rows are shown at the start, and watched for changes. */
const WATCHED = 10;
/** Events that come together are answered once. */
const SETTLE_MS = 150;

/** Prints rows until Ctrl-C, or until the reader of the output is gone. */
export async function watchHistory(
  call: Pick<Call, "json" | "output">,
  workspace: Workspace,
  { filter, limit }: { readonly filter: TimelineOptions; readonly limit: number | undefined },
): Promise<number> {
  const known = new Map<string, string>();
  const shown = Math.min(limit ?? WATCHED, 1000);
  const print = async (one: TimelineRow | UncapturedTurn) => {
    const [key, state] = "ref" in one ? [one.ref, stateOf(one)] : [`lost ${one.thread} ${one.at}`, ""];
    if (known.get(key) === state) return;
    known.set(key, state);
    if (!call.json) return call.output.print(historyLine(one, call.output));
    const json = "ref" in one ? historyRowJson(one) : { uncaptured: uncapturedJson(one) };
    await call.output.raw(`${JSON.stringify(redactJson(json))}\n`);
  };
  const printNew = async () => {
    const page = await workspace.timeline.rows({ ...filter, before: Number.MAX_SAFE_INTEGER, limit: shown });
    for (const one of inOrder(page).toReversed()) await print(one);
  };
  const events = workspace.events.read()[Symbol.asyncIterator]();
  let next = events.next();
  await printNew();
  const stop = new AbortController();
  process.once("SIGINT", () => stop.abort());
  const stopped = new Promise<"stopped">((resolve) =>
    stop.signal.addEventListener("abort", () => resolve("stopped")),
  );
  for (;;) {
    const event = await Promise.race([next, stopped]);
    if (event === "stopped" || event.done === true) return EXIT.done;
    await settled(stopped);
    await printNew();
    next = events.next();
  }
}

function settled(stopped: Promise<unknown>): Promise<unknown> {
  return Promise.race([stopped, new Promise((resolve) => setTimeout(resolve, SETTLE_MS))]);
}

/** While a turn is under way its counts grow: it is printed when it begins and when it ends. */
function stateOf(row: TimelineRow): string {
  const { state, status, title, name, note, tags, added, modified, deleted } = row;
  const counts = status === "working" ? [] : [added, modified, deleted];
  return JSON.stringify([state === "undone", status, title, name, note, tags, counts]);
}
