/** What a merge did, in words, with its way back. */
import type { CallOutput } from "@belay/protocol";
import type { Merge } from "../data/facts.ts";
import type { Toast } from "../parts/toasts.tsx";
import type { PlanRequest } from "../plans/request.ts";
import { quantity, visible } from "../words.ts";

/** What carrying out a merge did. */
export type MergeOutcome = CallOutput<"POST /api/merges/:id/apply">;

/** The sources of a merge in a sentence: "idea and docs". */
export function sourceNames({ sources }: Pick<Merge, "sources">): string {
  return sources.map(({ branch }) => `“${visible(branch)}”`).join(" and ");
}

/** How the conflicts of a merge were decided: "3 merged by themselves, 1 by the merger, 2 by you." */
export function resolutionWords({ resolution }: Pick<Merge, "resolution">): string {
  const { autoResolved, mergerResolved, userResolved } = resolution;
  return `${autoResolved} merged by ${autoResolved === 1 ? "itself" : "themselves"}, ${mergerResolved} by the merger, ${userResolved} by you.`;
}

/** "Merged “idea” into main: 4 files." with its way back. */
export function mergeResult(
  outcome: MergeOutcome,
  then: {
    undo(request: PlanRequest): void;
    compare?: ((from: string, to: string) => void) | undefined;
    decide?(merge: string): void;
  },
): Toast {
  const { created, modified, deleted, safetyCheckpoint, newCheckpoint, state } = outcome;
  const files = created + modified + deleted;
  const open = outcome.conflicts.filter((conflict) => conflict.state === "open").length;
  const came = outcome.sources.filter((source) => source.outcome === "merged");
  const what =
    came.length === 0
      ? "Nothing has been merged yet."
      : `Merged ${sourceNames({ sources: came })} into ${visible(outcome.into)}: ${quantity(files, "file")}.`;
  const waits = open === 0 ? "" : ` ${quantity(open, "conflict")} ${open === 1 ? "waits" : "wait"} for you.`;
  const kept =
    outcome.displaced.length === 0
      ? ""
      : ` Written meanwhile and kept: ${outcome.displaced.map(({ path }) => visible(path)).join(", ")}.`;
  const more =
    then.compare !== undefined && safetyCheckpoint !== null && newCheckpoint !== null && files > 0
      ? { words: "Show diff", run: () => then.compare!(safetyCheckpoint, newCheckpoint) }
      : state === "open" && then.decide !== undefined
        ? { words: "Decide…", run: () => then.decide!(outcome.id) }
        : undefined;
  return {
    text: `${what}${waits}${kept}`,
    made: newCheckpoint,
    ...(more && { more }),
    ...(files > 0 && {
      action: { words: "Undo", run: () => then.undo({ kind: "undo", name: "" }) },
    }),
  };
}
