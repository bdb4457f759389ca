/** Belay in the terminal: screens over the protocol's client. Importing this loads Ink; `@belay/tui/text` does not. */
export type { Connection, Place, ScreenMemory } from "./data/connection.ts";
export type { ScreenOptions } from "./run-screens.tsx";
export { runTimeline, type TimelineOptions } from "./run-timeline.tsx";
export type {
  ConflictAnswers,
  ConflictOption,
  ConflictQuestion,
  ConflictQuestions,
  ConflictSide,
  Severity,
} from "./questions/conflicts.ts";
export { editorOf, editorWords, runEditor } from "./terminal/editor.ts";
export { chooseConflicts, runMenu, type MenuOptions } from "./run-questions.tsx";
