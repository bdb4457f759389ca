/** The keys of the timeline (M73 and more), from which its hints and the help are made. */
import type { HistoryRow } from "../../data/history-row.ts";
import type { Source } from "../../data/source.tsx";
import type { Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { askCheckpoint, askName, askNote, askTags } from "../annotate.tsx";
import { DetailsScreen } from "../details/details.tsx";
import { HelpScreen } from "../help.tsx";
import { ThreadsScreen } from "../threads.tsx";
import type { Filter } from "./filter.ts";
import { goBackKeys, onlyFileKeys, pendingKeys, rowActions } from "./go-back-keys.tsx";
import { withNow } from "./now-keys.tsx";
import { openRowDiff } from "./row-diff.tsx";
import type { Choices } from "./use-choices.ts";
import type { RowList } from "./use-list.ts";

/** What the keys work on. */
export interface TimelineKeysContext {
  readonly frame: Frame;
  readonly choices: Choices;
  readonly filter: Filter;
  readonly source: Source;
  /** The thread that is shown alone. */
  readonly thread: string | undefined;
  /** Opened from another screen, which Esc goes back to. */
  readonly isInner: boolean;
  list(): RowList;
  openThread(frame: Frame, thread: { readonly id: string; readonly title: string }): void;
}

/** The keys of the timeline screen, as a table. */
export function timelineKeys(context: TimelineKeysContext): Binding[] {
  const table: Binding[] = [
    ...moveKeys(context),
    ...goBackKeys(context.frame, () => context.list().chosen),
    ...onlyFileKeys({ ...context, pointed: () => context.list().chosen }),
    ...sayKeys(context),
    ...lookKeys(context),
    ...pendingKeys(context.frame),
    {
      keys: ["T"],
      help: { group: "Keep", keys: "T", text: "threads" },
      run: () => context.frame.open(<ThreadsScreen openTimeline={context.openThread} />),
    },
    {
      keys: ["?"],
      hint: { text: "help", line: 2 },
      run: () => context.frame.open(<HelpScreen table={table} />),
    },
    { keys: ["q"], hint: { text: "quit", line: 2 }, run: () => context.frame.quit() },
  ];
  return table.map((binding) => withNow(context.frame, () => context.list().now, binding));
}

function moveKeys({ frame, choices, list }: TimelineKeysContext): Binding[] {
  const { signs } = frame;
  const help = (keys: string, text: string) => ({ group: "Move" as const, keys, text });
  return [
    {
      keys: ["up", "down", "k", "j"],
      hint: { key: signs.upDown, text: "navigate" },
      help: help(signs.ascii ? "Up Down j k" : "↑ ↓ j k", "row"),
      run: (key) => list().move(key === "up" || key === "k" ? -1 : 1),
    },
    {
      keys: ["right", "left"],
      help: help(signs.leftRight, "unfold, fold steps"),
      run: (key) => list().unfold(key === "right"),
    },
    { keys: ["g", "home"], help: help("g G", "first, last"), run: () => list().goTo(0) },
    { keys: ["G", "end"], run: () => list().goToNumber() },
    {
      keys: ["pageup", "pagedown"],
      help: help("PgUp PgDn", "page"),
      run: (key) => list().page(key === "pageup" ? -1 : 1),
    },
    { keys: "0123456789".split(""), run: (key) => list().typeDigit(key) },
    { keys: ["z"], help: help("z", "one line a row"), run: () => choices.toggleCompact() },
  ];
}

function lookKeys({ frame, choices, filter, isInner, list }: TimelineKeysContext): Binding[] {
  const help = (keys: string, text: string) => ({ group: "Look" as const, keys, text });
  return [
    {
      keys: ["d"],
      hint: { text: "diff" },
      help: help("d", "diff (two marks, or with disk)"),
      run: () => {
        const { chosen } = list();
        if (chosen !== undefined) openRowDiff(frame, chosen);
      },
    },
    {
      keys: ["v"],
      hint: { text: "view details" },
      help: help("v", "details"),
      run: () => {
        const { chosen } = list();
        if (chosen !== undefined)
          frame.open(<DetailsScreen chosen={chosen} actions={rowActions(frame, chosen)} />);
      },
    },
    {
      keys: ["/"],
      hint: { text: "filter", line: 2 },
      help: help("/", "filter        Esc  drop it"),
      run: () => filter.open(),
    },
    {
      keys: ["esc"],
      ...(isInner && { hint: { text: "back", line: 2 as const } }),
      run: () => {
        if (filter.asked !== undefined) filter.drop();
        else if (isInner) frame.close();
        else frame.say([]);
      },
    },
    {
      keys: ["space"],
      hint: { text: "mark", line: 2 },
      help: help("Space", "mark for comparison"),
      run: () => {
        const row = list().selected;
        if (row !== undefined) choices.mark(row);
      },
    },
    { keys: ["a"], help: help("a", "show safety ones too"), run: () => choices.toggleAll() },
  ];
}

/** What users say about states. */
function sayKeys({ frame, source, thread, list }: TimelineKeysContext): Binding[] {
  const help = (keys: string, text: string) => ({ group: "Keep" as const, keys, text });
  const about = (ask: (frame: Frame, source: Source, row: HistoryRow) => void) => () => {
    const row = list().selected;
    if (row !== undefined) ask(frame, source, row);
  };
  return [
    {
      keys: ["c"],
      hint: { text: "checkpoint", line: 2 },
      help: help("c", "checkpoint…"),
      run: () => askCheckpoint(frame, source, thread),
    },
    {
      keys: ["n"],
      hint: { text: "note", line: 2, from: WIDE_COLUMNS },
      help: help("n t m", "note, tag, rename"),
      run: about(askNote),
    },
    { keys: ["t"], hint: { text: "tag", line: 2, from: WIDE_COLUMNS }, run: about(askTags) },
    { keys: ["m"], run: about(askName) },
  ];
}

/** From here on the changes stand beside the list, and there is room for more hints. */
export const WIDE_COLUMNS = 110;
