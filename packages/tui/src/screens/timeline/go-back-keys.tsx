/** The keys that lead to going back, and to what is pending. None of them acts: each opens a preview that asks. */
import type { Chosen } from "../../data/history-row.ts";
import { loadComparedFiles } from "../../data/comparisons.ts";
import type { Source } from "../../data/source.tsx";
import type { Frame } from "../../frame/frame.tsx";
import { line } from "../../frame/line.ts";
import type { Binding } from "../../frame/keys.ts";
import { openRestore, openStep, openUndoOnlyThis } from "../going-back/open.tsx";
import { refusalOf } from "../../plans/plan.ts";
import { visibleLine } from "../../text/visible.ts";
import { DETAIL_HINTS, DETAIL_WORDS } from "../../words.ts";
import { DetailsScreen, type RowActions } from "../details/details.tsx";
import { PendingScreen } from "../pending/pending-screen.tsx";
import { isState } from "./marks.ts";
import { changePair } from "./row-diff.tsx";

/** Columns from which there is room for another hint. */
const WIDE = 110;

/** Restore, undo, redo, undo only this; `pointed` is the row or step under the pointer. */
export function goBackKeys(frame: Frame, pointed: () => Chosen | undefined): Binding[] {
  const help = (keys: string, text: string) => ({ group: "Go back" as const, keys, text });
  const withChosen = (act: (chosen: Chosen) => void) => () => {
    const chosen = pointed();
    if (chosen !== undefined) act(chosen);
  };
  return [
    {
      keys: ["enter", "b"],
      hint: { text: "restore" },
      help: help("Enter", "restore… (preview)"),
      run: withChosen((chosen) => openRestore(frame, chosen)),
    },
    {
      keys: ["u"],
      hint: { text: "undo", line: 2 },
      help: help("u  r", "undo…, redo…"),
      run: () => openStep(frame, "undo"),
    },
    { keys: ["r"], hint: { text: "redo", line: 2 }, run: () => openStep(frame, "redo") },
    {
      keys: ["R"],
      hint: { text: "undo only this", line: 2, from: WIDE },
      help: help("R", "undo only this…"),
      run: withChosen((chosen) => openUndoOnlyThis(frame, chosen)),
    },
  ];
}

/** What the details of a row offer: restore to it, restore one of its files, undo only it. */
export function rowActions(frame: Frame, chosen: Chosen): RowActions {
  const help = (keys: string, text: string) => ({ group: "Go back" as const, keys, text });
  const isPlace = isState(chosen.row);
  return {
    restore: {
      keys: ["enter", "b"],
      hint: { text: isPlace ? DETAIL_HINTS.restoreState : DETAIL_HINTS.restore },
      help: help("Enter", "restore… (preview)"),
      run: () => openRestore(frame, chosen),
    },
    others: (file) => [
      ...(file === undefined
        ? []
        : [
            {
              keys: ["f"],
              hint: { text: DETAIL_HINTS.file(frame.signs.pointer) },
              help: help("f", "only this file…"),
              run: () => openRestore(frame, chosen, [file]),
            },
          ]),
      // there is nothing to undo in a state
      ...(isPlace
        ? []
        : [
            {
              keys: ["R"],
              hint: { text: DETAIL_HINTS.undo },
              help: help("R", "undo only this…"),
              run: () => openUndoOnlyThis(frame, chosen),
            },
          ]),
    ],
  };
}

/** The key of the timeline that opens what is pending. */
export function pendingKeys(frame: Frame): Binding[] {
  return [
    {
      keys: ["p"],
      hint: { text: "pending", line: 2 },
      help: { group: "Keep", keys: "p", text: "pending: A approve, X reset" },
      run: () => frame.open(<PendingScreen />),
    },
  ];
}

/** Only one file of what is pointed at: at once where it changed one, else chosen among them in the details. */
export function onlyFileKeys({
  frame,
  source,
  pointed,
}: {
  readonly frame: Frame;
  readonly source: Source;
  pointed(): Chosen | undefined;
}): Binding[] {
  const open = async (chosen: Chosen) => {
    const { files } = await loadComparedFiles(source, changePair(chosen));
    const [only, ...others] = files;
    if (only === undefined) frame.say([line(`  ${DETAIL_WORDS.unchanged}`)]);
    else if (others.length === 0 && only.pathBase64 === undefined) openRestore(frame, chosen, [only.path]);
    else frame.open(<DetailsScreen chosen={chosen} actions={rowActions(frame, chosen)} />);
  };
  return [
    {
      keys: ["f"],
      help: { group: "Go back", keys: "f", text: "only this file…" },
      run: () => {
        const chosen = pointed();
        if (chosen === undefined) return;
        open(chosen).catch((error: unknown) =>
          frame.say([line(`  ! ${visibleLine(refusalOf(error).message)}`, { colour: "yellow" })]),
        );
      },
    },
  ];
}
