/** The files that differ between two states, and under them their lines. */
import { useEffect, useState, type ReactNode } from "react";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toasts.tsx";
import { quantity, visible, WORDS } from "../words.ts";
import { FileDiffCard, fileId } from "./file-diff-card.tsx";
import type { DiffLook, FileActions } from "./look.ts";
import { FileList } from "./file-list.tsx";
import { FindBar } from "./find-bar.tsx";
import { useFind } from "./find.ts";
import { useDiff, type ChangedFile, type Own } from "./files.ts";

/** Which states are compared, and how their lines are drawn. */
export interface DiffViewProps {
  /** A checkpoint; null where there is no state to compare with. */
  readonly from: string | null;
  /** A checkpoint, or "disk". */
  readonly to: string;
  /** Changes when the disk may have changed: then it is looked at again. */
  readonly version?: string | number;
  readonly layout?: DiffLook["layout"];
  /** Everything else about how lines are drawn. */
  readonly look?: Partial<DiffLook>;
  /** What the buttons of a file do; without it a file can be copied, not restored. */
  readonly actions?: Omit<FileActions, "onCopied" | "onFailed">;
  /** Shows the field that finds words in all files; `onFindEnd` is called when it is closed. */
  readonly isFinding?: boolean;
  onFindEnd?(): void;
  /** The file to bring into view; another object brings it there again. */
  readonly goTo?: { readonly path: string } | undefined;
  /** The card that was gone to. */
  onArrive?(card: HTMLElement): void;
  /** Only what a row, or one step of it, changed itself. */
  readonly own?: Own | undefined;
  /** How many files a turn itself changed: where other work went on meanwhile, the states differ in more. */
  readonly ownFiles?: number | undefined;
  /** What is said where the two states are the same. */
  readonly nothing?: string;
  readonly className?: string;
}

/** Files shown as cards at once; others when asked. */
const CARDS = 60;

const NO_FILES: readonly ChangedFile[] = [];
const LOOK: DiffLook = { layout: "unified", wrap: false, words: true, whitespace: "exact" };

/** Two states compared: the list of files, then a card for each. */
export function DiffView(props: DiffViewProps): ReactNode {
  const { from, to, version, own, ownFiles, nothing = WORDS.same } = props;
  const look = { ...LOOK, ...props.look, ...(props.layout && { layout: props.layout }) };
  const pair = from === null ? null : { from, to, own, ...(version !== undefined && { version }) };
  const toast = useToast();
  const { value, error } = useDiff(pair);
  const files = value?.files ?? NO_FILES;
  const { first, last, selected, show, setFirst, setLast } = useCards(files, props);
  const find = useFind(pair, files, { look, show });
  if (pair === null) return <p className="belay b-empty">{nothing}</p>;
  if (error !== undefined) return <p className="belay b-empty">{visible(error.message)}</p>;
  if (value === undefined) return <div className="b-skeleton b-card b-later" />;
  if (value.files.length === 0) return <p className="belay b-empty">{nothing}</p>;
  const actions = {
    ...props.actions,
    onCopied: (what: string) => toast({ text: `${what} was copied.` }),
    onFailed: ({ message }: Error) => toast({ text: message, isFailure: true }),
  };
  return (
    <div className={`belay b-diffs ${props.className ?? ""}`}>
      {props.isFinding ? <FindBar find={find} onClose={() => props.onFindEnd?.()} /> : null}
      <FileList files={value.files} selected={selected} onSelect={show} />
      {ownFiles !== undefined && ownFiles > 0 && value.filesTotal > ownFiles ? (
        <p className="b-note b-acc">
          <Icon name="user" />
          {quantity(ownFiles, "file")} of these {ownFiles === 1 ? "is" : "are"} this turn’s own; other work
          went on at the same time.
        </p>
      ) : null}
      {value.filesTotal > value.files.length ? (
        <p className="b-small b-muted">{WORDS.more(value.filesTotal - value.files.length)}</p>
      ) : null}
      {first > 0 ? (
        <button type="button" className="b-btn" onClick={() => setFirst(Math.max(0, first - CARDS))}>
          Show {quantity(Math.min(CARDS, first), "file")} before
        </button>
      ) : null}
      {value.files.slice(first, last).map((file) => (
        <FileDiffCard
          key={`${pair.from} ${pair.to} ${file.path}`}
          pair={pair}
          file={file}
          look={look}
          actions={actions}
        />
      ))}
      {value.files.length > last ? (
        <button type="button" className="b-btn" onClick={() => setLast(last + CARDS)}>
          Show {quantity(Math.min(CARDS, value.files.length - last), "more file", "more files")}
        </button>
      ) : null}
    </div>
  );
}

interface Shown {
  /** Which files have cards. */
  readonly first: number;
  readonly last: number;
  /** The file that was gone to. */
  readonly goal: { readonly path: string } | undefined;
}

/** [R2160] A stretch of the files has cards: a file outside of it is gone to all the same, with those around it. */
function useCards(
  files: readonly ChangedFile[],
  { goTo, onArrive }: Pick<DiffViewProps, "goTo" | "onArrive">,
) {
  const [shown, setShown] = useState<Shown>({ first: 0, last: CARDS, goal: undefined });
  const { first, last, goal } = shown;
  const show = ({ path }: Pick<ChangedFile, "path">) => {
    const at = files.findIndex((file) => file.path === path);
    if (at < 0) return;
    const isIn = at >= first && at < last;
    const from = Math.floor(at / CARDS) * CARDS;
    setShown({ ...(isIn ? { first, last } : { first: from, last: from + CARDS }), goal: { path } });
  };
  const hasFiles = files.length > 0;
  useEffect(() => {
    if (goTo !== undefined) show(goTo);
  }, [goTo, hasFiles]);
  // its card is in the document by now
  useEffect(() => {
    const card = goal && document.getElementById(fileId(goal));
    if (!card) return;
    card.scrollIntoView({ block: "start" });
    onArrive?.(card);
  }, [goal]);
  return {
    first,
    last,
    selected: goal?.path,
    show,
    setFirst: (next: number) => setShown({ ...shown, first: next }),
    setLast: (next: number) => setShown({ ...shown, last: next }),
  };
}
