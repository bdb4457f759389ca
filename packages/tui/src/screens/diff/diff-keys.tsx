/** The keys of the diff. */
import type { Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { line } from "../../frame/line.ts";
import { DIFF_WORDS } from "../../words.ts";
import { HelpScreen } from "../help.tsx";
import type { DiffRow } from "./diff-rows.ts";
import type { Find } from "./find.ts";
import { patchOf } from "./patch.ts";
import type { Scroll, TakeBack } from "./scroll.ts";
import type { Diff } from "./use-diff.ts";

/** What the keys work on. */
export interface DiffKeysContext {
  readonly frame: Frame;
  readonly diff: Diff;
  readonly rows: readonly DiffRow[];
  readonly scroll: Scroll;
  page(): number;
  scrollTo(row: number, other?: Partial<Scroll>): void;
  readonly find: Find;
  readonly takeBack: TakeBack | undefined;
  toggleSplit(): void;
}

const SIDEWAYS = 8;
/** Terminals refuse longer texts for the clipboard. */
const MOST_COPIED = 74_000;

/** The keys of the diff screen, as a table. */
export function diffKeys(context: DiffKeysContext): Binding[] {
  const { frame, diff, page, scrollTo, find, toggleSplit } = context;
  const { top, shift } = context.scroll;
  const table: Binding[] = [
    {
      keys: ["up", "down"],
      hint: { key: frame.signs.upDown, text: "scroll" },
      help: { group: "Move", keys: frame.signs.ascii ? "Up Down" : "↑ ↓", text: "line" },
      run: (key) => scrollTo(top + (key === "up" ? -1 : 1)),
    },
    {
      keys: [".", ","],
      hint: { key: ". ,", text: "hunk" },
      help: { group: "Move", keys: ". ,", text: "hunk" },
      run: (key) => goToHunk(context, context.scroll.hunk + (key === "." ? 1 : -1)),
    },
    {
      keys: ["j", "k"],
      hint: { key: "j k", text: "file" },
      help: { group: "Move", keys: "j k", text: "file" },
      run: (key) => diff.goTo(diff.index + (key === "j" ? 1 : -1)),
    },
    {
      keys: ["s"],
      hint: { text: "split" },
      help: { group: "Look", keys: "s", text: "both sides, or one" },
      run: () => toggleSplit(),
    },
    {
      keys: ["w"],
      hint: { text: "whitespace" },
      help: { group: "Look", keys: "w", text: "hide or show whitespace" },
      run: () => diff.toggleWhitespace(),
    },
    {
      keys: ["/"],
      hint: { text: "find" },
      help: { group: "Look", keys: "/", text: "find" },
      run: () => find.open(),
    },
    { keys: ["esc", "q", "d"], hint: { text: "back" }, run: () => frame.close() },
    ...copyKeys(context),
    ...takeBackKeys(context),
    {
      keys: ["enter"],
      help: { group: "Look", keys: "Enter", text: "unchanged lines too" },
      run: () => diff.expand(),
    },
    {
      keys: ["pagedown", "space"],
      help: { group: "Move", keys: "PgUp PgDn", text: "page" },
      run: () => scrollTo(top + page()),
    },
    { keys: ["pageup"], run: () => scrollTo(top - page()) },
    {
      keys: ["g", "home"],
      help: { group: "Move", keys: "g G", text: "first, last" },
      run: () => scrollTo(0),
    },
    { keys: ["G", "end"], run: () => scrollTo(Number.MAX_SAFE_INTEGER) },
    {
      keys: ["right"],
      help: { group: "Move", keys: frame.signs.leftRight, text: "sideways" },
      run: () => scrollTo(top, { shift: shift + SIDEWAYS }),
    },
    { keys: ["left"], run: () => scrollTo(top, { shift: Math.max(0, shift - SIDEWAYS) }) },
    { keys: ["?"], run: () => frame.open(<HelpScreen table={table} />) },
  ];
  return table;
}

function copyKeys({ frame, diff, scroll: { hunk: at } }: DiffKeysContext): Binding[] {
  const hunks = diff.lines?.hunks ?? [];
  const copy = (text: string, said: string) => {
    if (text.length > MOST_COPIED) return frame.say([line(DIFF_WORDS.tooLong)]);
    frame.copy(text);
    frame.say([line(`${frame.signs.done} ${said}`)]);
  };
  const hunk = hunks[at];
  return [
    {
      keys: ["y"],
      hint: { text: "copy hunk", line: 2 },
      help: { group: "Keep", keys: "y", text: "copy hunk" },
      run: () =>
        diff.file !== undefined &&
        hunk !== undefined &&
        copy(patchOf(diff.file, [hunk]), DIFF_WORDS.copiedHunk(at + 1, hunks.length)),
    },
    {
      keys: ["Y"],
      hint: { text: "copy as patch", line: 2 },
      help: { group: "Keep", keys: "Y", text: "copy file as patch" },
      run: () =>
        diff.file !== undefined &&
        hunks.length > 0 &&
        copy(patchOf(diff.file, hunks), DIFF_WORDS.copiedPatch(diff.file.path)),
    },
  ];
}

function takeBackKeys({ diff, scroll, takeBack }: DiffKeysContext): Binding[] {
  const { file, lines } = diff;
  if (takeBack === undefined || file === undefined) return [];
  const hunk = lines?.hunks[scroll.hunk];
  const { hunk: undoHunk } = takeBack;
  return [
    {
      keys: ["f"],
      hint: { text: "restore this file", line: 2 },
      help: { group: "Go back", keys: "f", text: "restore this file…" },
      run: () => takeBack.file(file.path),
    },
    ...(undoHunk === undefined
      ? []
      : [
          {
            keys: ["h"],
            hint: { text: "undo this hunk", line: 2 as const },
            help: { group: "Go back" as const, keys: "h", text: "undo this hunk…" },
            run: () => hunk && undoHunk(file.path, hunk),
          },
        ]),
  ];
}

function goToHunk({ rows, scrollTo }: DiffKeysContext, hunk: number): void {
  const header = rows.findIndex((row) => row.kind === "header" && row.hunk === hunk);
  if (header >= 0) scrollTo(header, { hunk });
}
