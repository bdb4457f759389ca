/** Pending: what each thread changed since it was approved. Capital letters approve and reset: neither happens by a slip. */
import { useMemo, useState, type ReactNode } from "react";
import { useSource } from "../../data/source.tsx";
import { useFrame, useKeys, type Frame } from "../../frame/frame.tsx";
import type { Binding } from "../../frame/keys.ts";
import { box, line, span, withRemark, type Line } from "../../frame/line.ts";
import { bodyRows, Page } from "../../frame/page.tsx";
import { useTextField, type TextField } from "../../frame/text-field.ts";
import { refusalOf } from "../../plans/plan.ts";
import { count } from "../../text/quantity.ts";
import { visibleLine } from "../../text/visible.ts";
import { PENDING, ROW_WORDS } from "../../words.ts";
import { RestoreScreen } from "../going-back/restore-screen.tsx";
import { HelpScreen } from "../help.tsx";
import { openPendingDiff } from "./open-pending-diff.tsx";
import { SeenFiles, usePending, type PendingThread } from "./pending-data.ts";
import {
  itemLine,
  pendingItems,
  pendingKey,
  pendingPlace,
  pendingTotal,
  sessionLines,
  type PendingItem,
  type PendingStyle,
} from "./pending-lines.ts";

/** The screen of work that waits for approval. */
export function PendingScreen(): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const seen = useMemo(() => new SeenFiles(source.place), [source]);
  const { threads: known, error, again } = usePending();
  const threads = known ?? [];
  const [unfolded, setUnfolded] = useState<ReadonlySet<string>>();
  const [pointed, setPointed] = useState<string>();
  const [approving, setApproving] = useState<PendingThread>();
  const [, redraw] = useState(0);
  const field = useTextField();
  // the first thread is open from the start
  const open = unfolded ?? new Set(threads.slice(0, 1).map(({ id }) => id));
  const items = pendingItems(threads, open);
  const at = pendingPlace(items, pointed);
  const item = items[at];
  const approve = async (thread: PendingThread) => {
    setApproving(undefined);
    const message = field.text.trim();
    field.set("");
    frame.say(await approveThread(thread, message));
    again();
  };
  const approveThread = async (thread: PendingThread, message: string): Promise<Line[]> => {
    try {
      const body = message === "" ? {} : { message };
      await source.call("POST /api/threads/:id/approve", { params: { id: thread.id }, body });
      const text = PENDING.approved(count(thread.files.length, "file"), visibleLine(thread.title));
      return [[span(`  ${frame.signs.done} `, { colour: "green" }), span(text)]];
    } catch (problem) {
      return [line(`  ! ${visibleLine(refusalOf(problem).message)}`, { colour: "yellow" })];
    }
  };
  const keys = useKeys(
    approving !== undefined
      ? approveKeys({ field, approve: () => void approve(approving), cancel: () => setApproving(undefined) })
      : listKeys(frame, {
          items,
          at,
          point: (next) => setPointed(pendingKey(next)),
          unfold: (id, isOpen) =>
            setUnfolded(new Set(isOpen ? [...open, id] : [...open].filter((each) => each !== id))),
          toggleSeen: (file) => {
            const problem = seen.toggle(file.thread.id, file.file);
            if (problem !== undefined) frame.say([line(`  ! ${PENDING.notKept(visibleLine(problem))}`)]);
            redraw((number) => number + 1);
          },
          approve: setApproving,
        }),
    approving === undefined ? {} : { typed: field.typed },
  );
  const { columns: width, signs } = frame;
  const style: PendingStyle = {
    width,
    signs,
    pointed: item === undefined ? undefined : pendingKey(item),
    seen,
    clock: source.place.clock(),
  };
  const place = { width: width - 4, signs };
  // "nothing pending" is shown only once that is known
  const total = known === undefined ? (error === undefined ? ROW_WORDS.loading : "") : pendingTotal(known);
  const head = box([withRemark(line(PENDING.title, { bold: true }), line(total), place)], { width, signs });
  const foot = footLines({ error, approving, field, frame });
  const room = bodyRows(frame, { head, foot, keys });
  const sessions = item === undefined ? [] : sessionLines(item.thread, style);
  return <Page head={head} body={bodyLines({ items, at, sessions, room, style })} foot={foot} keys={keys} />;
}

interface Foot {
  readonly error: string | undefined;
  readonly approving: PendingThread | undefined;
  readonly field: TextField;
  readonly frame: Frame;
}

function footLines({ error, approving, field, frame }: Foot): Line[] {
  if (approving !== undefined)
    return [
      [span(PENDING.message(count(approving.files.length, "file"))), ...field.shown(frame.signs.cursor)],
    ];
  return error === undefined ? [] : [line(`! ${visibleLine(error)}`, { colour: "yellow" })];
}

interface Body {
  readonly items: readonly PendingItem[];
  readonly at: number;
  readonly sessions: readonly Line[];
  readonly room: number;
  readonly style: PendingStyle;
}

/** The list around the pointer, and below it the sessions, as far as there is room. */
function bodyLines({ items, at, sessions, room, style }: Body): Line[] {
  const list = items.map((item) => itemLine(item, style));
  const fits = list.length + 1 + sessions.length <= room;
  const rest = fits ? sessions : sessions.slice(0, Math.floor(room / 3));
  const height = Math.max(1, room - (rest.length > 0 ? rest.length + 1 : 0));
  const from = Math.max(0, Math.min(list.length - height, at - Math.floor(height / 2)));
  return [...list.slice(from, from + height), ...(rest.length > 0 ? [[], ...rest] : [])];
}

interface ApproveKeys {
  readonly field: TextField;
  approve(): void;
  cancel(): void;
}

function approveKeys({ field, approve, cancel }: ApproveKeys): Binding[] {
  return [
    { keys: ["enter"], hint: { text: "approve" }, run: approve },
    { keys: ["esc"], hint: { text: "cancel" }, run: cancel },
    ...field.table,
  ];
}

interface ListKeys {
  readonly items: readonly PendingItem[];
  readonly at: number;
  point(item: PendingItem): void;
  unfold(thread: string, isOpen: boolean): void;
  toggleSeen(item: Extract<PendingItem, { is: "file" }>): void;
  approve(thread: PendingThread): void;
}

function listKeys(frame: Frame, { items, at, point, unfold, toggleSeen, approve }: ListKeys): Binding[] {
  const item = items[at];
  const { upDown, leftRight } = frame.signs;
  const move = (by: number) => {
    const next = items[Math.max(0, Math.min(items.length - 1, at + by))];
    if (next !== undefined) point(next);
  };
  /** That nothing is pending is said in words, not by a key that does nothing. */
  const withPending = (act: (thread: PendingThread) => void) => () => {
    if (item === undefined) return;
    if (item.thread.files.length > 0) act(item.thread);
    else frame.say([line(`  ${PENDING.nothingToApprove(visibleLine(item.thread.title))}`)]);
  };
  const table: Binding[] = [
    {
      keys: ["A"],
      hint: { text: "approve" },
      help: { group: "Keep", keys: "A", text: "approve" },
      run: withPending(approve),
    },
    {
      keys: ["X"],
      hint: { text: "reset…" },
      help: { group: "Go back", keys: "X", text: "reset… (preview)" },
      run: withPending((thread) => openReset(frame, thread)),
    },
    {
      keys: ["d"],
      hint: { text: "diff" },
      help: { group: "Look", keys: "d", text: "diff with the approved state" },
      run: () => item && openPendingDiff(frame, item.thread, item.is === "file" ? item.file.path : undefined),
    },
    {
      keys: ["space"],
      hint: { text: "seen" },
      help: { group: "Look", keys: "Space", text: "mark as seen" },
      run: () => item?.is === "file" && toggleSeen(item),
    },
    { keys: ["up", "k"], run: () => move(-1) },
    {
      keys: ["down", "j"],
      hint: { key: `${upDown} ${leftRight.split(/[ /]/, 1)[0]}`, text: "move" },
      help: { group: "Move", keys: frame.signs.ascii ? "Up Down j k" : "↑ ↓ j k", text: "thread, file" },
      run: () => move(1),
    },
    { keys: ["pageup"], run: () => move(-10) },
    { keys: ["pagedown"], run: () => move(10) },
    {
      keys: ["right", "enter"],
      help: { group: "Move", keys: leftRight, text: "unfold, fold files" },
      run: () => item && unfold(item.thread.id, true),
    },
    {
      keys: ["left"],
      run: () => {
        if (item === undefined) return;
        unfold(item.thread.id, false);
        point({ is: "thread", thread: item.thread });
      },
    },
    { keys: ["esc", "q", "p"], hint: { text: "back" }, run: () => frame.close() },
    { keys: ["?"], run: () => frame.open(<HelpScreen table={table} />) },
  ];
  return table;
}

function openReset(frame: Frame, { id, title }: PendingThread): void {
  const words = PENDING.approvedState(visibleLine(title));
  const target = { ref: "", words, time: "", note: null, thread: id };
  frame.open(<RestoreScreen kind="reset" target={target} finished={() => frame.close()} />, {
    question: true,
  });
}
