/** What the user chose on the timeline. */
import { useState } from "react";
import type { HistoryRow } from "../../data/history-row.ts";
import { toggled, type Marks } from "./marks.ts";

/** The choices and how they change. */
export interface Choices {
  readonly isCompact: boolean;
  readonly all: boolean;
  readonly marks: Marks;
  /** Of a wide window: which side has the keys. */
  readonly side: "list" | "changes";
  toggleCompact(): void;
  toggleAll(): void;
  toggleSide(): void;
  mark(row: HistoryRow): void;
  swapMarks(): void;
  clearMarks(): void;
}

/** The choices of one screen of the timeline. */
export function useChoices(): Choices {
  const [isCompact, setCompact] = useState(false);
  const [all, setAll] = useState(false);
  const [marks, setMarks] = useState<Marks>([]);
  const [side, setSide] = useState<Choices["side"]>("list");
  return {
    isCompact,
    all,
    marks,
    side,
    toggleCompact: () => setCompact(!isCompact),
    toggleAll: () => setAll(!all),
    toggleSide: () => setSide(side === "list" ? "changes" : "list"),
    mark: (row) => setMarks(toggled(marks, row)),
    swapMarks: () => setMarks(marks.toReversed()),
    clearMarks: () => setMarks([]),
  };
}
