/** A progress bar on stderr for long work, with its rate and when it will be done; only on a terminal. */
import { count, cutToWidth, displayWidth, grouped, size } from "@belay/tui/text";

/** How far the work is. */
export interface ProgressAt {
  readonly done: number;
  readonly total: number;
  readonly bytes?: number;
  /** What is done at the moment, where a bar shows several things one after the other. */
  readonly label?: string;
}

/** A bar that disappears when disposed. */
export interface ProgressBar extends Disposable {
  update(at: ProgressAt): void;
}

const SHOWN_AFTER_MS = 400;
const REDRAWN_AFTER_MS = 80;
const MOST_CELLS = 24;
/** A bar of fewer cells says nothing. */
const FEWEST_CELLS = 6;

/** Creates a bar, or one that does nothing when disabled. */
export function createProgressBar(label: string, noun: string, enabled: boolean): ProgressBar {
  if (!enabled || process.stderr.isTTY !== true) return { update: () => {}, [Symbol.dispose]: () => {} };
  const started = performance.now();
  let phase = { label, since: started };
  let drawn = 0;
  return {
    update(at) {
      const now = performance.now();
      if (at.label !== undefined && at.label !== phase.label) phase = { label: at.label, since: now };
      // the last one is always drawn: it stays for as long as the end of the work takes
      const isDue = now - drawn >= REDRAWN_AFTER_MS || at.done >= at.total;
      if (now - started < SHOWN_AFTER_MS || !isDue) return;
      drawn = now;
      const line = progressLine(at, { label: phase.label, noun, elapsedMs: now - phase.since });
      process.stderr.write(`\r\u001b[K${fitted(line, at, (process.stderr.columns || 80) - 1)}`);
    },
    [Symbol.dispose]() {
      if (drawn > 0) process.stderr.write("\r\u001b[K");
      drawn = 0;
    },
  };
}

/** What stands before and after the bar. */
export interface ProgressLine {
  readonly before: string;
  readonly after: string;
}

/** The title of a bar and what is beside it: `Restoring` and `1,200 of 50,000 files, 3,400/s, 14 s left`. */
export function progressLine(
  { done, total, bytes }: ProgressAt,
  { label, noun, elapsedMs }: { readonly label: string; readonly noun: string; readonly elapsedMs: number },
): ProgressLine {
  const perSecond = elapsedMs > 0 ? (done / elapsedMs) * 1000 : 0;
  const amount = bytes === undefined ? [] : [size(bytes)];
  const rate = perSecond > 0 ? [`${grouped(Math.round(perSecond))}/s`] : [];
  // after the last one what is left is not known
  const left = perSecond > 0 && done < total ? [timeLeft((total - done) / perSecond)] : [];
  return {
    before: label,
    after: [`${grouped(done)} of ${count(total, noun)}`, ...amount, ...rate, ...left].join(", "),
  };
}

function timeLeft(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 100) return `${whole} s left`;
  return whole < 6000 ? `${Math.ceil(whole / 60)} min left` : `${Math.ceil(whole / 3600)} h left`;
}

/** The bar takes what room the words leave it. */
function fitted({ before, after }: ProgressLine, at: ProgressAt, width: number): string {
  const cells = Math.min(MOST_CELLS, width - displayWidth(before) - displayWidth(after) - 2);
  const words = cells < FEWEST_CELLS ? [before, after] : [before, bar(at, cells), after];
  return cutToWidth(words.join(" "), width);
}

function bar({ done, total }: ProgressAt, cells: number): string {
  const full = total > 0 ? Math.round(Math.min(1, done / total) * cells) : 0;
  return "━".repeat(full) + "─".repeat(cells - full);
}
