/** Questions as programs of their own: the menu of a chat, and the conflicts of a merge. */
import type { Place } from "./data/connection.ts";
import type { ConflictAnswers, ConflictQuestions } from "./questions/conflicts.ts";
import { runScreens, type ScreenOptions } from "./run-screens.tsx";
import { ConflictQuestionScreen } from "./screens/conflicts/conflict-question-screen.tsx";
import { MenuScreen } from "./screens/menu.tsx";

/** How the menu is opened. */
export interface MenuOptions extends ScreenOptions {
  /** The conversation whose pending files it counts. */
  readonly thread?: string;
}

/** Shows the menu until the user leaves it; the exit code. */
export function runMenu(place: Place, { thread, ...options }: MenuOptions): Promise<number> {
  return runScreens(place, <MenuScreen thread={thread} />, options);
}

/** Asks for each conflict; undefined when the user left them, or the summary was not answered with y. */
export async function chooseConflicts(
  place: Place,
  questions: ConflictQuestions,
  options: ScreenOptions,
): Promise<ConflictAnswers | undefined> {
  let chosen: ConflictAnswers | undefined;
  const exit = await runScreens(
    place,
    <ConflictQuestionScreen questions={questions} choose={(answers) => (chosen = answers)} />,
    options,
  );
  return exit === 0 ? chosen : undefined;
}
