/**
 * Finds words in the data of all files of a diff, not only in the lines that are drawn. What is drawn is painted with
 * the browser's highlights, which changes no element.
 */
import { useEffect, useRef, useState } from "react";
import { useBelay } from "../data/belay.tsx";
import { LINE_HEIGHT } from "./file-body.tsx";
import { fileId } from "./file-diff-card.tsx";
import type { DiffLook } from "./look.ts";
import { loadFileDiff, type ChangedFile, type Pair } from "./files.ts";

const TYPING_MS = 150;
const PAINT_MS = 200;
const HIGHLIGHT = "belay-found";
/** Further hits are counted, not remembered. */
const MOST_HITS = 10_000;
const DRAWN_WITHIN_MS = 3000;

/** A line that has the words. */
interface Hit {
  readonly file: ChangedFile;
  readonly hunk: number;
  readonly line: number;
}

/** What was found, and the way from hit to hit. */
export interface Find {
  readonly words: string;
  readonly hits: number;
  /** From 1; 0 while none was gone to. */
  readonly at: number;
  readonly isSearching: boolean;
  /** Files that are too long to be searched. */
  readonly skipped: number;
  setWords(words: string): void;
  go(by: 1 | -1): void;
}

interface Found {
  readonly hits: readonly Hit[];
  readonly skipped: number;
  readonly isSearching: boolean;
}

const NOTHING: Found = { hits: [], skipped: 0, isSearching: false };

/** Searches the files of a comparison. `show` brings a file's card into the document. */
export function useFind(
  pair: Pair | null,
  files: readonly ChangedFile[],
  { look, show }: { readonly look: DiffLook; readonly show: (file: ChangedFile) => void },
): Find {
  const belay = useBelay();
  const [words, setWords] = useState("");
  const [found, setFound] = useState(NOTHING);
  const [at, setAt] = useState(0);
  const latest = useRef(0);
  const { whitespace } = look;
  useEffect(() => {
    const mine = (latest.current += 1);
    setAt(0);
    if (words === "" || pair === null) return setFound(NOTHING);
    const search = async () => {
      const hits: Hit[] = [];
      let skipped = 0;
      for (const file of files) {
        const diff = await loadFileDiff(belay, {
          pair,
          file,
          options: { context: 3, whitespace, large: false },
        });
        if (latest.current !== mine) return;
        if (diff.truncated) skipped += 1;
        hits.push(...hitsOf(file, diff.hunks, words.toLowerCase()));
        if (hits.length >= MOST_HITS) break;
        setFound({ hits: [...hits], skipped, isSearching: true });
      }
      setFound({ hits, skipped, isSearching: false });
    };
    const timer = setTimeout(() => void search().catch(() => setFound(NOTHING)), TYPING_MS);
    return () => clearTimeout(timer);
    // a pair is named by its states, and its files follow from them
  }, [words, pair?.from, pair?.to, whitespace, files.length]);
  useEffect(() => paintWhile(words), [words]);
  const go = (by: 1 | -1) => {
    const total = found.hits.length;
    if (total === 0) return;
    const next = at === 0 ? (by > 0 ? 1 : total) : ((at - 1 + by + total) % total) + 1;
    setAt(next);
    const hit = found.hits[next - 1]!;
    show(hit.file);
    void scrollTo(hit);
  };
  return {
    words,
    at,
    hits: found.hits.length,
    skipped: found.skipped,
    isSearching: found.isSearching,
    setWords,
    go,
  };
}

function hitsOf(
  file: ChangedFile,
  hunks: readonly { readonly lines: readonly { readonly text: string }[] }[],
  words: string,
): Hit[] {
  return hunks.flatMap(({ lines }, hunk) =>
    lines.flatMap(({ text }, line) => (text.toLowerCase().includes(words) ? [{ file, hunk, line }] : [])),
  );
}

/** A card comes first, its lines a moment later. */
async function scrollTo({ file, hunk, line }: Hit): Promise<void> {
  const until = Date.now() + DRAWN_WITHIN_MS;
  document.getElementById(fileId(file))?.scrollIntoView({ block: "start" });
  while (Date.now() < until) {
    const head = document.getElementById(fileId(file))?.querySelector<HTMLElement>(`[data-hunk="${hunk}"]`);
    if (head) {
      head.scrollIntoView({ block: "start" });
      const scroller = scrollerOf(head);
      // the header of the file lies over the first lines
      scroller.scrollBy({ top: line * LINE_HEIGHT - scroller.clientHeight / 3 });
      return;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

function scrollerOf(element: HTMLElement): HTMLElement {
  let parent = element.parentElement;
  while (parent !== null && !/auto|scroll/.test(getComputedStyle(parent).overflowY))
    parent = parent.parentElement;
  return parent ?? document.documentElement;
}

/** Paints what is drawn, again and again, because lines are drawn and dropped while the reader scrolls. */
function paintWhile(words: string): (() => void) | undefined {
  if (words === "" || !("highlights" in CSS)) return undefined;
  const paint = () => CSS.highlights.set(HIGHLIGHT, new Highlight(...drawnRanges(words.toLowerCase())));
  const timer = setInterval(paint, PAINT_MS);
  paint();
  return () => {
    clearInterval(timer);
    CSS.highlights.delete(HIGHLIGHT);
  };
}

/** Words are found across the pieces that colours cut a line into. */
function drawnRanges(words: string): Range[] {
  const ranges: Range[] = [];
  for (const container of document.querySelectorAll("diffs-container"))
    for (const line of container.shadowRoot?.querySelectorAll("[data-line]") ?? [])
      ranges.push(...rangesIn(line, words));
  return ranges;
}

function rangesIn(line: Element, words: string): Range[] {
  const walker = document.createTreeWalker(line, NodeFilter.SHOW_TEXT);
  const pieces: { readonly node: Text; readonly from: number }[] = [];
  let text = "";
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    pieces.push({ node: node as Text, from: text.length });
    text += (node as Text).data;
  }
  const place = (at: number) => pieces.findLast(({ from }) => from <= at)!;
  const ranges: Range[] = [];
  const lower = text.toLowerCase();
  for (let at = lower.indexOf(words); at >= 0; at = lower.indexOf(words, at + words.length)) {
    const [start, end] = [place(at), place(at + words.length - 1)];
    const range = document.createRange();
    range.setStart(start.node, at - start.from);
    range.setEnd(end.node, at + words.length - end.from);
    ranges.push(range);
  }
  return ranges;
}
