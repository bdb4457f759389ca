/**
 * The line of the files on disk is no row: `d` shows what changed since the newest checkpoint, and what needs a row says
 * why it does nothing [R2347].
 */
import { useMemo, type ReactNode } from "react";
import { DISK } from "../../data/comparisons.ts";
import type { Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { line } from "../../frame/line.ts";
import { COMPARE_WORDS, ROW_WORDS } from "../../words.ts";
import { DiffScreen } from "../diff/diff.tsx";

/** Keys that work on a row. */
const OF_A_ROW: ReadonlySet<string> = new Set(["enter", "b", "R", "f", "v", "n", "t", "m", "space", "d"]);

/** A key of the timeline as it works on the line of the files on disk; `changed` files of them, undefined on a row. */
export function withNow(frame: Frame, changed: () => number | undefined, binding: Binding): Binding {
  if (!binding.keys.some((key) => OF_A_ROW.has(key))) return binding;
  return {
    ...binding,
    run: (key) => {
      const files = changed();
      if (files === undefined) binding.run(key);
      else if (files === 0) frame.say([line(`  ${ROW_WORDS.onSteppedBack}`)]);
      else if (key === "d") frame.open(<NowDiffScreen />);
      else frame.say([line(`  ${ROW_WORDS.onNow}`)]);
    },
  };
}

function NowDiffScreen(): ReactNode {
  const pair = useMemo(() => ({ from: "@", to: DISK }), []);
  return <DiffScreen pair={pair} title={{ from: ROW_WORDS.newest, to: COMPARE_WORDS.onDisk }} />;
}
