/** One file of a diff: a header that stays in view, and its hunks, drawn when they come near. */
import { lazy, Suspense, useEffect, useRef, useState, type ReactNode, type RefObject } from "react";
import { Icon, Lines, PathName } from "../parts/icon.tsx";
import { copyText } from "../parts/copy.ts";
import { quantity, size, visible } from "../words.ts";
import type { CodeLook } from "./code.tsx";
import { StatusLetter } from "./file-list.tsx";
import { useFileDiff, type ChangedFile, type Pair } from "./files.ts";
import { ImagePair } from "./images.tsx";
import { drawnPatch, hunkText, patchText, type DiffHunk, type FileDiffAnswer } from "./patch.ts";

const Code = lazy(() => import("./code.tsx"));

/** How all files of a view are drawn. */
export interface DiffLook extends CodeLook {
  readonly whitespace: "exact" | "ignore";
}

/** What a file's buttons do; a view leaves out what it has no use for. */
export interface FileActions {
  /** "Restore this file…" or "Undo this file…" */
  readonly fileWords?: string;
  onFile?(file: ChangedFile): void;
  onCopied(what: string): void;
}

const CONTEXT = 3;
const ALL = 100_000;
const LINE_HEIGHT = 20;
/** Long hunks are drawn in pieces, so that only what is near costs anything. */
const PIECE = 300;

/** The card of one file. */
export function FileDiffCard(props: {
  readonly pair: Pair;
  readonly file: ChangedFile;
  readonly look: DiffLook;
  readonly actions: FileActions;
}): ReactNode {
  const { pair, file, look, actions } = props;
  const [isOpen, setOpen] = useState(true);
  const [context, setContext] = useState(CONTEXT);
  const [large, setLarge] = useState(false);
  const [body, isNear] = useNear();
  const options = { context, whitespace: look.whitespace, large };
  const { value, error } = useFileDiff(pair, isNear && isOpen ? file : null, options);
  return (
    <article className="b-diff" id={fileId(file)} aria-label={`${file.type} ${visible(file.path)}`}>
      <header>
        <button
          type="button"
          className="b-btn b-s b-quiet b-icon"
          aria-expanded={isOpen}
          aria-label={`${isOpen ? "Fold" : "Unfold"} ${visible(file.path)}`}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name={isOpen ? "down" : "right"} small />
        </button>
        <StatusLetter type={file.type} />
        <PathName path={file.path} from={file.from} />
        <Lines plus={file.linesAdded} minus={file.linesDeleted} />
        <span className="b-grow" />
        <HeaderButtons file={file} diff={value} actions={actions} />
      </header>
      <div ref={body}>
        {!isOpen ? null : error !== undefined ? (
          <p className="b-skip">{error.message}</p>
        ) : value === undefined ? (
          <div style={{ height: guessHeight(file) }} />
        ) : (
          <FileBody
            {...props}
            diff={value}
            isWhole={context === ALL}
            onWhole={() => setContext(context === ALL ? CONTEXT : ALL)}
            onLarge={() => setLarge(true)}
          />
        )}
      </div>
    </article>
  );
}

/** The element of a file's card. */
export function fileId(file: Pick<ChangedFile, "path">): string {
  return `file-${encodeURIComponent(file.path)}`;
}

function guessHeight({ linesAdded, linesDeleted }: ChangedFile): number {
  return Math.min(600, 60 + ((linesAdded ?? 0) + (linesDeleted ?? 0) + 2 * CONTEXT) * LINE_HEIGHT);
}

function HeaderButtons(props: {
  readonly file: ChangedFile;
  readonly diff: FileDiffAnswer | undefined;
  readonly actions: FileActions;
}): ReactNode {
  const { file, diff, actions } = props;
  const name = visible(file.path);
  return (
    <>
      {diff === undefined || diff.hunks.length === 0 ? null : (
        <button
          type="button"
          className="b-btn b-s b-quiet b-icon"
          aria-label={`Copy the change of ${name} as a patch`}
          title="Copy as patch"
          onClick={() => void copyText(patchText(diff)).then(() => actions.onCopied("The patch"))}
        >
          <Icon name="copy" />
        </button>
      )}
      {actions.onFile === undefined || file.gap !== undefined ? null : (
        <button
          type="button"
          className="b-btn b-s b-quiet"
          aria-label={`${actions.fileWords} ${name}`}
          onClick={() => actions.onFile!(file)}
        >
          <Icon name="back" small />
          {actions.fileWords}
        </button>
      )}
    </>
  );
}

interface BodyProps {
  readonly pair: Pair;
  readonly file: ChangedFile;
  readonly look: DiffLook;
  readonly actions: FileActions;
  readonly diff: FileDiffAnswer;
  readonly isWhole: boolean;
  onWhole(): void;
  onLarge(): void;
}

function FileBody(props: BodyProps): ReactNode {
  const { diff, file, look, actions } = props;
  if (diff.before?.image !== undefined || diff.after?.image !== undefined || isSvg(file))
    return <ImagePair {...props} />;
  if (diff.truncated)
    return (
      <p className="b-skip">
        A long change: {quantity((file.linesAdded ?? 0) + (file.linesDeleted ?? 0), "line")}.
        <button type="button" className="b-btn b-s" onClick={props.onLarge}>
          Show anyway
        </button>
      </p>
    );
  if (diff.hunks.length === 0) return <p className="b-skip">{whyNoLines(props)}</p>;
  return (
    <>
      {diff.hunks.map((hunk, index) => (
        <div
          role="group"
          key={`${hunk.oldStart} ${hunk.newStart}`}
          aria-label={`${visible(file.path)}, hunk ${index + 1} of ${diff.hunks.length}`}
        >
          <div className="b-hunk" data-hunk={index}>
            <span>
              @@ −{hunk.oldStart},{hunk.oldLines} +{hunk.newStart},{hunk.newLines} @@
            </span>
            <span className="b-fn b-cut">{visible(hunk.header.replace(/^@@.*?@@ ?/, ""))}</span>
            <span className="b-grow" />
            {index === 0 ? (
              <button type="button" className="b-btn b-s b-quiet" onClick={props.onWhole}>
                {props.isWhole ? "Only changes" : "Whole file"}
              </button>
            ) : null}
            <button
              type="button"
              className="b-btn b-s b-quiet"
              onClick={() => void copyText(hunkText(hunk)).then(() => actions.onCopied("The hunk"))}
            >
              Copy
            </button>
          </div>
          {piecesOf(hunk).map((piece) => (
            <NearLines key={`${piece.oldStart} ${piece.newStart}`} hunk={piece} file={file} look={look} />
          ))}
        </div>
      ))}
    </>
  );
}

function isSvg({ path }: ChangedFile): boolean {
  return /\.svg$/i.test(path);
}

/** Why a changed file shows no lines, in one sentence. */
function whyNoLines({ diff, file }: BodyProps): string {
  const { before, after } = diff;
  if (file.gap !== undefined) return `Not captured: ${file.gap}.`;
  if (before?.kind === "symlink" || after?.kind === "symlink")
    return `A link: ${before?.target ?? "nothing"} → ${after?.target ?? "nothing"}`;
  if (before !== null && after !== null && before.mode !== after.mode && before.hash === after.hash)
    return `Mode ${(before.mode ?? 0).toString(8)} → ${(after.mode ?? 0).toString(8)}${isExecutable(after.mode) ? ", now executable" : ""}.`;
  if (file.type === "renamed") return "Renamed; the content is the same.";
  const sizes = [before, after].map((side) => (side === null ? "nothing" : size(side.size)));
  if (file.binary || file.tooLarge)
    return `${file.binary ? "Binary" : "Too large to show"}: ${sizes.join(" → ")}.`;
  return "Only whitespace differs, or nothing that can be shown as lines.";
}

function isExecutable(mode: number | null): boolean {
  return mode !== null && (mode & 0o111) !== 0;
}

/** A hunk in pieces of a bounded number of lines. */
function piecesOf(hunk: DiffHunk): DiffHunk[] {
  if (hunk.lines.length <= PIECE) return [hunk];
  const pieces: DiffHunk[] = [];
  let { oldStart, newStart } = hunk;
  for (let at = 0; at < hunk.lines.length; at += PIECE) {
    const lines = hunk.lines.slice(at, at + PIECE);
    const oldLines = lines.filter(({ type }) => type !== "+").length;
    const newLines = lines.filter(({ type }) => type !== "-").length;
    pieces.push({ ...hunk, oldStart, oldLines, newStart, newLines, lines });
    oldStart += oldLines;
    newStart += newLines;
  }
  return pieces;
}

/** Lines that are drawn when they come within a screen; until then they keep their place. */
function NearLines(props: {
  readonly hunk: DiffHunk;
  readonly file: ChangedFile;
  readonly look: DiffLook;
}): ReactNode {
  const { hunk, file, look } = props;
  const [place, isNear] = useNear();
  const height = heightOf(hunk, look.layout);
  const patch = drawnPatch(file.path, hunkText(hunk));
  return (
    <div ref={place} className="b-lines" style={{ minHeight: height }}>
      {isNear ? (
        <Suspense fallback={<div style={{ height }} />}>
          <Code patch={patch} look={look} />
        </Suspense>
      ) : null}
    </div>
  );
}

function heightOf({ lines }: DiffHunk, layout: DiffLook["layout"]): number {
  if (layout === "unified") return lines.length * LINE_HEIGHT;
  const [plus, minus] = ["+", "-"].map((sign) => lines.filter(({ type }) => type === sign).length) as [
    number,
    number,
  ];
  return (lines.length - plus - minus + Math.max(plus, minus)) * LINE_HEIGHT;
}

/** True from when an element first comes within a screen of the view. */
function useNear(): [place: RefObject<HTMLDivElement | null>, isNear: boolean] {
  const place = useRef<HTMLDivElement>(null);
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const observer = new IntersectionObserver(
      (entries) => {
        if (entries.some(({ isIntersecting }) => isIntersecting)) setNear(true);
      },
      { rootMargin: "100% 0px" },
    );
    observer.observe(place.current!);
    return () => observer.disconnect();
  }, []);
  return [place, isNear];
}
