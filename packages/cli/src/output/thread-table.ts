/** Threads as rows, and a thread's name inside a sentence. */
import type { ThreadSummary } from "@belay/engine";
import type { Output } from "./output.ts";
import { count, relativeTime } from "@belay/tui/text";
import { table } from "./table.ts";
import { visible } from "./visible.ts";

/** A thread in a few words: `claude "Add login"` */
export function threadLabel({ agent, title, id }: ThreadSummary): string {
  return `${visible(agent)} ${title === null ? id.slice(0, 8) : `"${visible(title)}"`}`;
}

/** Threads as rows. */
export function threadTable(threads: readonly ThreadSummary[], output: Output): string {
  const { style } = output;
  const isNarrow = output.width < WIDE;
  const rows = threads.map((thread) => {
    const title = { text: visible(thread.title ?? thread.externalId) };
    const held = `${count(thread.messages, "message")}, ${count(thread.checkpoints, "checkpoint")}`;
    return [
      { text: thread.id.slice(0, 8), paint: style.dim },
      { text: visible(thread.agent), paint: style.cyan },
      { text: relativeTime(thread.updatedAt) },
      ...(isNarrow
        ? [title]
        : [{ text: thread.session, paint: style.blue }, title, { text: held, paint: style.dim }]),
    ];
  });
  // in the narrowest the time goes too
  return table(
    rows,
    isNarrow ? { width: output.width, flexible: 3, dispensable: [2] } : { width: output.width, flexible: 4 },
  );
}

/** Narrower terminals show only agent, time and title. */
const WIDE = 100;
