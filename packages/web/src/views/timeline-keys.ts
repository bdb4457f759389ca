/** The letters of the main screen. They work in the list and the detail, never in a field. */
import { restoreTo, titleOf, type HistoryRow } from "@belay/react";
import type { KeyboardEvent } from "react";
import { lettersAct } from "../preferences.ts";
import type { useDialogs } from "../dialogs/use-dialogs.tsx";

/** What the keys act on. */
export interface TimelineKeys {
  readonly row: HistoryRow | undefined;
  readonly dialogs: ReturnType<typeof useDialogs>;
  mark(): void;
  compare(): void;
  details(): void;
  open(): void;
  everything(): void;
  compact(): void;
  pending(): void;
}

/** A handler for the keys of the timeline. */
export function useTimelineKeys(keys: TimelineKeys): (event: KeyboardEvent) => void {
  const { row, dialogs } = keys;
  const annotate = (field: "name" | "note" | "tags") => () =>
    row && dialogs.open({ kind: "annotate", row, field });
  const actions: Readonly<Record<string, () => void>> = {
    // where there is nothing to do, the preview says so
    u: () => dialogs.plan({ kind: "undo", name: "" }),
    r: () => dialogs.plan({ kind: "redo", name: "" }),
    b: () => row && restoreTo(row, dialogs.plan),
    R: () =>
      row?.kind === "turn" &&
      row.state === "applied" &&
      dialogs.plan({ kind: "revert", target: row.id, name: `“${titleOf(row)}”` }),
    c: () => dialogs.open({ kind: "checkpoint" }),
    n: annotate("note"),
    t: annotate("tags"),
    m: annotate("name"),
    " ": keys.mark,
    d: keys.compare,
    v: keys.details,
    Enter: keys.open,
    a: keys.everything,
    z: keys.compact,
    p: keys.pending,
    "/": () => document.getElementById("search")?.focus(),
    "?": () => dialogs.open({ kind: "keys" }),
  };
  return (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.defaultPrevented) return;
    const element = event.target as HTMLElement;
    const isControl = element.closest("button, a, input, textarea, select, summary") !== null;
    if (isControl && (event.key === "Enter" || event.key === " " || element.matches("input, textarea")))
      return;
    const act = actions[event.key];
    if (act === undefined || (event.key.trim().length === 1 && !lettersAct())) return;
    event.preventDefault();
    act();
  };
}
