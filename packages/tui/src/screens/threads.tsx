/** The threads: who worked here, newest first. Enter shows what one of them did, and nothing else. */
import { useEffect, useState, type ReactNode } from "react";
import type { ThreadFacts } from "../data/use-threads.ts";
import { useSource } from "../data/source.tsx";
import { useFrame, useKeys, type Frame } from "../frame/frame.tsx";
import { box, line, pad, span, withRemark, type Line } from "../frame/line.ts";
import type { Binding } from "../frame/keys.ts";
import { bodyRows, Page } from "../frame/page.tsx";
import { nearTime } from "../text/relative-time.ts";
import { visibleLine } from "../text/visible.ts";
import { ROW_WORDS, THREAD_WORDS } from "../words.ts";
import { HelpScreen } from "./help.tsx";

/** How a thread's own rows are opened. */
export interface ThreadsProps {
  openTimeline(frame: Frame, thread: { readonly id: string; readonly title: string }): void;
}

interface Known {
  readonly threads: readonly ThreadFacts[];
  readonly working: ReadonlySet<string>;
}

/** The screen that lists threads, newest first. */
export function ThreadsScreen({ openTimeline }: ThreadsProps): ReactNode {
  const frame = useFrame();
  const clock = useSource().place.clock();
  const { known, problem } = useThreadList();
  const [at, setAt] = useState(0);
  const threads = known?.threads ?? [];
  const pointer = Math.max(0, Math.min(at, threads.length - 1));
  const move = (by: number) => setAt(Math.max(0, Math.min(threads.length - 1, pointer + by)));
  const arrows = frame.signs.ascii ? "Up Down j k" : "↑ ↓ j k";
  const table: Binding[] = [
    { keys: ["up", "k"], run: () => move(-1) },
    {
      keys: ["down", "j"],
      hint: { key: frame.signs.upDown, text: "move" },
      help: { group: "Move", keys: arrows, text: "thread" },
      run: () => move(1),
    },
    { keys: ["pageup"], help: { group: "Move", keys: "PgUp PgDn", text: "page" }, run: () => move(-10) },
    { keys: ["pagedown"], run: () => move(10) },
    { keys: ["g", "home"], help: { group: "Move", keys: "g G", text: "first, last" }, run: () => setAt(0) },
    { keys: ["G", "end"], run: () => setAt(threads.length - 1) },
    {
      keys: ["enter", "right"],
      hint: { text: "its timeline" },
      help: { group: "Look", keys: "Enter", text: "its timeline" },
      run: () => {
        const thread = threads[pointer];
        if (thread !== undefined) openTimeline(frame, { id: thread.id, title: nameOf(thread) });
      },
    },
    { keys: ["esc", "q", "T"], hint: { text: "back" }, run: () => frame.close() },
    { keys: ["?"], run: () => frame.open(<HelpScreen table={table} />) },
  ];
  const keys = useKeys(table);
  const { columns: width, signs } = frame;
  const total = known === undefined ? [] : line(THREAD_WORDS.total(threads.length));
  const head = box(
    [withRemark(line(THREAD_WORDS.title, { bold: true }), total, { width: width - 4, signs })],
    { width, signs },
  );
  const room = bodyRows(frame, { head, keys });
  const from = Math.max(0, Math.min(threads.length - room, pointer - Math.floor(room / 2)));
  const rows = threads
    .slice(from, from + room)
    .map((thread, index) =>
      threadLine(thread, { known: known!, frame, clock, isPointed: from + index === pointer }),
    );
  return <Page head={head} body={rows.length > 0 ? rows : emptyLines(known, problem)} keys={keys} />;
}

function emptyLines(known: Known | undefined, problem: string | undefined): Line[] {
  if (problem !== undefined) return [line(`  ! ${visibleLine(problem)}`, { colour: "yellow" })];
  return [line(`  ${known === undefined ? ROW_WORDS.loading : THREAD_WORDS.none}`, { dim: true })];
}

function threadLine(
  thread: ThreadFacts,
  { known, frame, clock, isPointed }: { known: Known; frame: Frame; clock: number; isPointed: boolean },
): Line {
  const { columns: width, signs } = frame;
  const look = isPointed ? ({ colour: "cyan", bold: true } as const) : {};
  const facts = [
    nearTime(Date.parse(thread.updatedAt), clock),
    THREAD_WORDS.prompts(thread.messages),
    ...(known.working.has(thread.id) ? [THREAD_WORDS.working] : []),
  ];
  const left = [
    span(`${isPointed ? signs.pointer : " "} `, look),
    ...pad([span(visibleLine(thread.agent), look)], AGENT_COLUMN, signs),
    span(` ${visibleLine(nameOf(thread))}`, look),
  ];
  return withRemark(left, line(facts.join("  "), { dim: true }), { width, signs });
}

const AGENT_COLUMN = 12;

function nameOf({ title, externalId }: ThreadFacts): string {
  return title ?? externalId;
}

/** Loads the threads, and again when something happens. */
function useThreadList(): { known: Known | undefined; problem: string | undefined } {
  const source = useSource();
  const [known, setKnown] = useState<Known>();
  const [problem, setProblem] = useState<string>();
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isWanted = true;
    const load = async () => {
      const query = { workspace: source.place.workspace };
      const { threads } = await source.call("GET /api/threads", { query });
      const { now } = await source.call("GET /api/history", { query: { ...query, limit: 1 } });
      const newest = threads.toSorted((a, b) => Date.parse(b.updatedAt) - Date.parse(a.updatedAt));
      if (isWanted) setKnown({ threads: newest, working: new Set(now?.working) });
    };
    load().then(
      () => isWanted && setProblem(undefined),
      (error: Error) => isWanted && setProblem(error.message),
    );
    return () => {
      isWanted = false;
    };
  }, [source, round]);
  useEffect(
    () => source.listen(({ type }) => type !== "restore_progress" && setRound((one) => one + 1)),
    [source],
  );
  return { known, problem };
}
