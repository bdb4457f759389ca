/** One file of a diff: a header that stays in view, and its hunks, drawn when they come near. */
import { useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { Icon, Lines, PathName } from "../parts/icon.tsx";
import { copyText } from "../parts/copy.ts";
import { useAct } from "../parts/use-act.ts";
import { visible } from "../words.ts";
import { ByHand, StatusLetter } from "./file-list.tsx";
import { patchOf, useFileDiff, type ChangedFile, type Pair } from "./files.ts";
import { changedCount, FileBody, LINE_HEIGHT, LongChange } from "./file-body.tsx";
import type { DiffLook, FileActions } from "./look.ts";
import type { FileDiffAnswer } from "./patch.ts";
import { useNear } from "./use-near.ts";

const CONTEXT = 3;
const ALL = 100_000;
/** Longer changes are folded until they are asked for. */
const MOST_LINES = 5000;
/** How many further lines around each change one press shows. */
const MORE = 20;

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
  const isLong = !large && changedCount(file) > MOST_LINES;
  const { value, error } = useFileDiff(pair, isNear && isOpen && !isLong ? file : null, options);
  return (
    <section className="b-diff" id={fileId(file)} aria-label={`${file.type} ${visible(file.path)}`}>
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
        <button
          type="button"
          className="b-plain b-path"
          title={`Copy ${visible(file.path)}`}
          onClick={() => void copyText(file.path).then(() => actions.onCopied("The path"))}
        >
          <PathName path={file.path} from={file.from} />
        </button>
        {file.pathBase64 === undefined ? null : <span className="b-chip b-warn">not UTF-8</span>}
        <Lines plus={file.linesAdded} minus={file.linesDeleted} />
        <ByHand file={file} />
        <span className="b-grow" />
        {context > CONTEXT ? (
          <button type="button" className="b-btn b-s b-quiet" onClick={() => setContext(CONTEXT)}>
            Only changes
          </button>
        ) : null}
        <HeaderButtons {...props} diff={value} isLong={isLong} />
      </header>
      <div ref={body}>
        {!isOpen ? null : error !== undefined ? (
          <p className="b-skip">{error.message}</p>
        ) : isLong ? (
          <LongChange file={file} bytes={null} onLarge={() => setLarge(true)} />
        ) : value === undefined ? (
          <div style={{ height: guessHeight(file) }} />
        ) : (
          <FileBody
            {...props}
            diff={value}
            context={context}
            onMore={() => setContext(context + MORE)}
            onWhole={() => setContext(ALL)}
            onLarge={() => setLarge(true)}
          />
        )}
      </div>
    </section>
  );
}

/** The element of a file's card. */
export function fileId(file: Pick<ChangedFile, "path">): string {
  return `file-${encodeURIComponent(file.path)}`;
}

function guessHeight(file: ChangedFile): number {
  return Math.min(600, 60 + (changedCount(file) + 2 * CONTEXT) * LINE_HEIGHT);
}

function HeaderButtons(props: {
  readonly pair: Pair;
  readonly file: ChangedFile;
  /** As it is shown; undefined while it is not. */
  readonly diff: FileDiffAnswer | undefined;
  /** It is folded, and copied all the same. */
  readonly isLong: boolean;
  readonly actions: FileActions;
}): ReactNode {
  const { pair, file, diff, isLong, actions } = props;
  const belay = useBelay();
  const act = useAct();
  const name = visible(file.path);
  const hasLines = isLong || diff?.truncated === true || (diff?.hunks.length ?? 0) > 0;
  // as `git apply` takes it, however the lines are shown
  const copy = () =>
    patchOf(belay, pair, [file])
      .then(copyText)
      .then(
        () => actions.onCopied("The patch"),
        (error: unknown) => actions.onFailed?.(error as Error),
      );
  return (
    <>
      {!hasLines ? null : (
        <button
          type="button"
          className="b-btn b-s b-quiet b-icon"
          aria-label={`Copy the change of ${name} as a patch`}
          title="Copy as patch"
          onClick={() => void copy()}
        >
          <Icon name="copy" />
        </button>
      )}
      {actions.onFile === undefined || file.gap !== undefined ? null : (
        <button
          type="button"
          className="b-btn b-s b-quiet"
          data-restore-file
          aria-label={`${actions.fileWords} ${name}`}
          {...act(() => actions.onFile!(file))}
        >
          <Icon name="back" small />
          {actions.fileWords}
        </button>
      )}
    </>
  );
}
