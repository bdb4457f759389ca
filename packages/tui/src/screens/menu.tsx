/** The menu of `/checkpoint`: what can be done, each on its own screen. */
import { useEffect, useState, type ReactNode } from "react";
import { useSource, type Source } from "../data/source.tsx";
import { Lines, useFrame, useKeys, type Frame } from "../frame/frame.tsx";
import { box, fit, line, span } from "../frame/line.ts";
import { MENU, MENU_WORDS, TITLES } from "../words.ts";
import { askCheckpoint } from "./annotate.tsx";
import { PendingScreen } from "./pending/pending-screen.tsx";
import { PruneScreen } from "./prune.tsx";
import { TimelineScreen } from "./timeline/timeline.tsx";

/** The conversation that the menu was opened from; left out: all of them. */
export interface MenuProps {
  readonly thread?: string | undefined;
}

const WIDTH = 44;

/** The menu of `/checkpoint`: each entry leads to a screen. */
export function MenuScreen({ thread }: MenuProps): ReactNode {
  const frame = useFrame();
  const source = useSource();
  const [at, setAt] = useState(0);
  const pending = usePendingCount(source, thread);
  const move = (by: number) => setAt((at + by + MENU.length) % MENU.length);
  useKeys([
    { keys: ["up", "k"], run: () => move(-1) },
    { keys: ["down", "j"], run: () => move(1) },
    { keys: ["enter"], run: () => openEntry(MENU[at]!.id, { frame, source, thread }) },
    { keys: ["esc", "q"], run: () => frame.close() },
  ]);
  const { signs, columns } = frame;
  const width = Math.min(WIDTH, columns);
  const entries = MENU.map(({ text }, index) => {
    const look = index === at ? ({ colour: "cyan", bold: true } as const) : {};
    return [span(`${index === at ? signs.pointer : " "} ${text(pending)}`, look)];
  });
  const hints = line(MENU_WORDS.hints(signs.upDown), { dim: true });
  const lines = [...entries, [], hints].map((each) => fit(each, width - 4, signs));
  return <Lines lines={[...box(lines, { width, signs, title: TITLES.menu }), ...frame.notice]} />;
}

interface MenuContext extends MenuProps {
  readonly frame: Frame;
  readonly source: Source;
}

/** Rows are restored and compared from the timeline, where Enter and Space do it. */
function openEntry(entry: (typeof MENU)[number]["id"], { frame, source, thread }: MenuContext): void {
  if (entry === "create") askCheckpoint(frame, source, thread);
  else if (entry === "pending") frame.open(<PendingScreen />);
  else if (entry === "prune") frame.open(<PruneScreen />, { question: true });
  else frame.open(<TimelineScreen isInner />);
}

/** How many files are pending: of one conversation, or of all. */
function usePendingCount(source: Source, thread: string | undefined): number {
  const [pending, setPending] = useState(0);
  useEffect(() => {
    const load = async () => {
      const query = { workspace: source.place.workspace };
      const ids =
        thread === undefined
          ? (await source.call("GET /api/threads", { query })).threads.map(({ id }) => id)
          : [thread];
      let files = 0;
      for (const id of ids)
        files += (await source.call("GET /api/threads/:id/session", { params: { id } })).changedFiles.length;
      setPending(files);
    };
    // without an answer the number stays 0; the screen behind the entry says what is wrong
    load().catch(() => undefined);
  }, [source, thread]);
  return pending;
}
