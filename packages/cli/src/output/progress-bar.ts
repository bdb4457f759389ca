/** A progress bar on stderr for long work; only on a terminal. */
import { count, grouped, size } from "@belay/tui/text";

/** A bar that disappears when disposed. */
export interface ProgressBar extends Disposable {
  update(progress: { done: number; total: number; bytes?: number }): void;
}

const SHOWN_AFTER_MS = 400;
const REDRAWN_AFTER_MS = 80;
const CELLS = 24;

/** Creates a bar, or one that does nothing when disabled. */
export function createProgressBar(label: string, noun: string, enabled: boolean): ProgressBar {
  if (!enabled || process.stderr.isTTY !== true) return { update: () => {}, [Symbol.dispose]: () => {} };
  const started = performance.now();
  let drawn = 0;
  return {
    update(progress) {
      const now = performance.now();
      if (now - started < SHOWN_AFTER_MS || now - drawn < REDRAWN_AFTER_MS) return;
      drawn = now;
      const text = `${label} ${bar(progress)} ${numbers(progress, noun)}`;
      process.stderr.write(`\r\u001b[K${text.slice(0, (process.stderr.columns ?? 80) - 1)}`);
    },
    [Symbol.dispose]: () => void (drawn > 0 && process.stderr.write("\r\u001b[K")),
  };
}

function bar({ done, total }: { done: number; total: number }): string {
  const full = total > 0 ? Math.round(Math.min(1, done / total) * CELLS) : 0;
  return "━".repeat(full) + "─".repeat(CELLS - full);
}

function numbers(
  { done, total, bytes }: { done: number; total: number; bytes?: number },
  noun: string,
): string {
  const amount = bytes === undefined ? "" : `, ${size(bytes)}`;
  return `${grouped(done)} of ${count(total, noun)}${amount}`;
}
