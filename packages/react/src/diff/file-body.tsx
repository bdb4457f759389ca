/** What lies under a file's header: its hunks, its two images, or in one sentence why there are no lines. */
import type { ReactNode } from "react";
import { copyText } from "../parts/copy.ts";
import { useAct } from "../parts/use-act.ts";
import { gapReason, quantity, size, visible } from "../words.ts";
import { CodeLines } from "./code-lines.tsx";
import type { ChangedFile, Pair } from "./files.ts";
import type { DiffLook, FileActions } from "./look.ts";
import { ImagePair } from "./images.tsx";
import { drawnPatch, hunkText, type DiffHunk, type FileDiffAnswer } from "./patch.ts";
import { useNear } from "./use-near.ts";

/** The height of one line, as the style sheet has it. */
export const LINE_HEIGHT = 20;
/** Long hunks are drawn in pieces, so that only what is near costs anything. */
const PIECE = 300;
/** Longer changes than this can be copied, not shown. */
const MOST_BYTES = 10 * 1024 * 1024;

/** What the body of a file's card shows and does. */
export interface FileBodyProps {
  readonly pair: Pair;
  readonly file: ChangedFile;
  readonly look: DiffLook;
  readonly actions: FileActions;
  readonly diff: FileDiffAnswer;
  /** How many unchanged lines stand around each change. */
  readonly context: number;
  onMore(): void;
  onWhole(): void;
  onLarge(): void;
}

/** The body of a file's card. */
export function FileBody(props: FileBodyProps): ReactNode {
  const { diff, file } = props;
  if (diff.before?.image !== undefined || diff.after?.image !== undefined || isSvg(file))
    return <ImagePair {...props} />;
  if (diff.truncated) {
    const bytes = Math.max(diff.before?.size ?? 0, diff.after?.size ?? 0);
    return <LongChange file={file} bytes={bytes} onLarge={props.onLarge} />;
  }
  if (diff.hunks.length === 0) return <p className="b-skip">{whyNoLines(props)}</p>;
  return (
    <>
      {diff.hunks.map((hunk, index) => (
        <div
          role="group"
          key={`${hunk.oldStart} ${hunk.newStart}`}
          aria-label={`${visible(file.path)}, hunk ${index + 1} of ${diff.hunks.length}`}
        >
          <Hidden {...props} count={hiddenAbove(hunk, diff.hunks[index - 1])} />
          <HunkHead {...props} hunk={hunk} index={index} />
          {piecesOf(hunk).map((piece) => (
            <NearLines
              key={`${piece.oldStart} ${piece.newStart}`}
              hunk={piece}
              file={file}
              look={props.look}
            />
          ))}
        </div>
      ))}
      <Hidden {...props} count={diff.below} />
    </>
  );
}

/** How many unchanged lines stand above a hunk without being shown. */
function hiddenAbove(hunk: DiffHunk, before: DiffHunk | undefined): number {
  return hunk.oldStart - (before === undefined ? 1 : before.oldStart + before.oldLines);
}

/** Unchanged lines that are not shown, with the ways to show them. */
function Hidden(props: Pick<FileBodyProps, "onMore" | "onWhole"> & { readonly count: number }): ReactNode {
  const { count } = props;
  if (count <= 0) return null;
  return (
    <div className="b-skip b-between-hunks">
      <span>{quantity(count, "unchanged line")}</span>
      <button type="button" className="b-plain b-link" onClick={props.onMore}>
        show 20 more
      </button>
      <button type="button" className="b-plain b-link" onClick={props.onWhole}>
        all
      </button>
    </div>
  );
}

function HunkHead(props: FileBodyProps & { readonly hunk: DiffHunk; readonly index: number }): ReactNode {
  const { hunk, index, file, actions } = props;
  const name = `hunk ${index + 1} of ${visible(file.path)}`;
  const act = useAct();
  return (
    <div className="b-hunk" data-hunk={index}>
      <span>
        @@ −{hunk.oldStart},{hunk.oldLines} +{hunk.newStart},{hunk.newLines} @@
      </span>
      <span className="b-fn b-cut">{visible(hunk.header.replace(/^@@.*?@@ ?/, ""))}</span>
      <span className="b-grow" />
      <button
        type="button"
        className="b-btn b-s b-quiet"
        aria-label={`Copy ${name}`}
        onClick={() => void copyText(hunkText(hunk)).then(() => actions.onCopied("The hunk"))}
      >
        Copy
      </button>
      {actions.onHunk === undefined || file.pathBase64 !== undefined ? null : (
        <button
          type="button"
          className="b-btn b-s b-quiet"
          data-restore-hunk
          aria-label={`${actions.hunkWords} ${name}`}
          {...act(() => actions.onHunk!(file, hunk))}
        >
          {actions.hunkWords}
        </button>
      )}
    </div>
  );
}

/** A change that is folded because of its length. */
export function LongChange(props: {
  readonly file: ChangedFile;
  /** null: not known yet */
  readonly bytes: number | null;
  onLarge(): void;
}): ReactNode {
  const { file, bytes } = props;
  const lines = changedCount(file);
  const facts = [
    lines > 0 ? `${quantity(lines, "line")} changed` : "",
    bytes === null ? "" : size(bytes),
  ].filter(Boolean);
  return (
    <p className="b-skip">
      {facts.join(", ")}
      {bytes !== null && bytes > MOST_BYTES ? (
        <span>Too long to show; it can be copied as a patch.</span>
      ) : (
        <button type="button" className="b-btn b-s" onClick={props.onLarge}>
          Show anyway
        </button>
      )}
    </p>
  );
}

/** How many lines a change has. */
export function changedCount({ linesAdded, linesDeleted }: ChangedFile): number {
  return (linesAdded ?? 0) + (linesDeleted ?? 0);
}

function isSvg({ path }: ChangedFile): boolean {
  return /\.svg$/i.test(path);
}

/** Why a changed file shows no lines, in one sentence. */
function whyNoLines({ diff, file }: FileBodyProps): ReactNode {
  const { before, after } = diff;
  if (file.gap !== undefined)
    return `Not captured: ${gapReason(file.gap)}. A restore leaves this file exactly as it is.`;
  if (before?.kind === "symlink" || after?.kind === "symlink")
    return `A link: ${visible(before?.target ?? "nothing")} → ${visible(after?.target ?? "nothing")}`;
  const hasMode = before !== null && after !== null && before.mode !== after.mode;
  if (hasMode && before.hash === after.hash)
    return `Permissions ${modeText(before.mode)} → ${modeText(after.mode)}, ${isExecutable(after.mode) ? "may now be executed" : "may no longer be executed"}.`;
  if (file.type === "renamed") return `Renamed from ${visible(file.from ?? "")}, content the same.`;
  if (file.binary || file.tooLarge)
    return (
      <span className="b-col">
        {file.binary ? "Binary" : "Too large to show as lines"}:
        <SideFacts words="before" side={before} />
        <SideFacts words="after" side={after} />
      </span>
    );
  return "Only whitespace differs, or nothing that can be shown as lines.";
}

/** "before 48 KiB 1f2e…" */
function SideFacts({
  words,
  side,
}: {
  readonly words: string;
  readonly side: FileDiffAnswer["before"];
}): ReactNode {
  return (
    <span className="b-row b-small">
      {words}
      {side === null ? (
        "not there"
      ) : (
        <>
          <span>{size(side.size)}</span>
          <code className="b-mono b-cut" title={side.hash ?? ""}>
            {side.hash?.slice(0, 16) ?? ""}
          </code>
        </>
      )}
    </span>
  );
}

function modeText(mode: number | null): string {
  return ((mode ?? 0) & 0o7777).toString(8).padStart(4, "0");
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
      {isNear ? <CodeLines patch={patch} look={look} height={height} /> : null}
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
