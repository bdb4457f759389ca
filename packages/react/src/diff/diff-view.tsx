/** The files that differ between two states, and under them their lines. */
import { useState, type ReactNode } from "react";
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
  readonly actions?: Omit<FileActions, "onCopied">;
  /** Shows the field that finds words in all files; `onFindEnd` is called when it is closed. */
  readonly isFinding?: boolean;
  onFindEnd?(): void;
  /** Only what a row, or one step of it, changed itself. */
  readonly own?: Own | undefined;
  /** How many files a turn itself changed: where other work went on meanwhile, the states differ in more. */
  readonly ownFiles?: number | undefined;
  /** What is said where the two states are the same. */
  readonly nothing?: string;
  readonly className?: string;
}

/** Files shown as cards at once; more when asked. */
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
  const [most, setMost] = useState(CARDS);
  const [selected, setSelected] = useState<string>();
  const files = value?.files ?? NO_FILES;
  const show = (file: ChangedFile) => {
    setSelected(file.path);
    const at = files.indexOf(file);
    if (at >= most) setMost(at + CARDS);
    requestAnimationFrame(() => document.getElementById(fileId(file))?.scrollIntoView({ block: "start" }));
  };
  const find = useFind(pair, files, { look, show });
  if (pair === null) return <p className="belay b-empty">{nothing}</p>;
  if (error !== undefined) return <p className="belay b-empty">{visible(error.message)}</p>;
  if (value === undefined) return <div className="b-skeleton b-card b-later" />;
  if (value.files.length === 0) return <p className="belay b-empty">{nothing}</p>;
  const actions = { ...props.actions, onCopied: (what: string) => toast({ text: `${what} was copied.` }) };
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
      {value.files.slice(0, most).map((file) => (
        <FileDiffCard
          key={`${pair.from} ${pair.to} ${file.path}`}
          pair={pair}
          file={file}
          look={look}
          actions={actions}
        />
      ))}
      {value.files.length > most ? (
        <button type="button" className="b-btn" onClick={() => setMost(most + CARDS)}>
          Show {quantity(Math.min(CARDS, value.files.length - most), "more file", "more files")}
        </button>
      ) : null}
    </div>
  );
}
