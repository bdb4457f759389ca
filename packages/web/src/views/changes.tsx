/** The files that differ between two states, and under them their lines. */
import {
  FileDiffCard,
  fileId,
  FileList,
  Icon,
  quantity,
  useComparison,
  useToast,
  WORDS,
  type ChangedFile,
  type DiffLook,
  type FileActions,
  type Pair,
} from "@belay/react";
import { useState, type ReactNode } from "react";

/** What the view of changes needs. */
export interface ChangesProps {
  readonly pair: Pair | null;
  readonly look: DiffLook;
  readonly actions: Omit<FileActions, "onCopied">;
  /** How many files a turn itself changed: where agents overlap, the states differ in more. */
  readonly own?: number;
  /** What is said where the two states are the same. */
  readonly nothing?: string;
}

/** Files shown as cards at once; more when asked. */
const CARDS = 60;

/** The list, then the cards. */
export function Changes({ pair, look, actions, own, nothing = WORDS.same }: ChangesProps): ReactNode {
  const toast = useToast();
  const { value, error } = useComparison(pair);
  const [most, setMost] = useState(CARDS);
  const [selected, setSelected] = useState<string>();
  if (pair === null) return <p className="b-empty">{nothing}</p>;
  if (error !== undefined) return <p className="b-empty">{error.message}</p>;
  if (value === undefined) return <div className="b-skeleton b-card b-later" />;
  if (value.files.length === 0) return <p className="b-empty">{nothing}</p>;
  const show = (file: ChangedFile) => {
    setSelected(file.path);
    const at = value.files.indexOf(file);
    if (at >= most) setMost(at + CARDS);
    requestAnimationFrame(() => document.getElementById(fileId(file))?.scrollIntoView({ block: "start" }));
  };
  const all = { ...actions, onCopied: (what: string) => toast({ text: `${what} was copied.` }) };
  return (
    <>
      <FileList files={value.files} selected={selected} onSelect={show} />
      {own !== undefined && own > 0 && value.filesTotal > own ? (
        <p className="b-note b-acc">
          <Icon name="user" />
          {quantity(own, "file")} of these {own === 1 ? "is" : "are"} this turn’s own; other work went on at
          the same time.
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
          actions={all}
        />
      ))}
      {value.files.length > most ? (
        <button type="button" className="b-btn" onClick={() => setMost(most + CARDS)}>
          Show {quantity(Math.min(CARDS, value.files.length - most), "more file", "more files")}
        </button>
      ) : null}
    </>
  );
}
