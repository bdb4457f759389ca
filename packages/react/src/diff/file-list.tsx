/** Changed files as a list: status, path, counts, and how much of each is new. */
import { useState, type ReactNode } from "react";
import { agentColour, AgentBadge, Icon, Lines, PathName } from "../parts/icon.tsx";
import { agentName, WORDS } from "../words.ts";
import type { ChangedFile } from "./files.ts";

const LETTERS = { added: "A", modified: "M", deleted: "D", renamed: "R", mode: "P" } as const;
const NAMES = {
  added: "added",
  modified: "changed",
  deleted: "deleted",
  renamed: "renamed",
  mode: "mode",
} as const;

/** The letter of what happened to a file. */
export function StatusLetter({ type }: Pick<ChangedFile, "type">): ReactNode {
  return (
    <span className={`b-st b-${LETTERS[type]}`} role="img" aria-label={NAMES[type]}>
      {LETTERS[type]}
    </span>
  );
}

/** Files listed at once; more when asked. */
const SHOWN = 50;

/** The files of a comparison, to choose one from. */
export function FileList(props: {
  readonly files: readonly ChangedFile[];
  readonly selected?: string | undefined;
  readonly onSelect: (file: ChangedFile) => void;
}): ReactNode {
  const [most, setMost] = useState(SHOWN);
  const { files } = props;
  return (
    <div className="b-card b-files" role="group" aria-label="Changed files">
      {files.slice(0, most).map((file) => (
        <button
          type="button"
          key={file.pathBase64 ?? file.path}
          className="b-filerow"
          aria-current={file.path === props.selected ? "true" : undefined}
          onClick={() => props.onSelect(file)}
        >
          <StatusLetter type={file.type} />
          <PathName path={file.path} from={file.from} />
          {file.attribution === "shared" ? <span className="b-chip b-edge">shared</span> : null}
          <ByHand file={file} />
          <span className="b-grow" />
          <FileCounts file={file} />
        </button>
      ))}
      {files.length > most ? (
        <button type="button" className="b-more" onClick={() => setMost(most * 4)}>
          {WORDS.more(files.length - most)}
        </button>
      ) : null}
    </div>
  );
}

/** The mark of a file that was changed without an agent. */
export function ByHand({ file }: { readonly file: ChangedFile }): ReactNode {
  if (file.byHand !== true) return null;
  return (
    <span className="b-chip b-edge">
      <Icon name="user" small />
      {(file.agents ?? []).length > 0 ? "by hand too" : "by hand"}
    </span>
  );
}

/** Who changed a file between the two states: the agents' badges, and the mark where a person did too. */
export function ChangedBy({ file }: { readonly file: ChangedFile }): ReactNode {
  const { agents = [] } = file;
  return (
    <>
      {agents.map((agent) => (
        <span key={agent} className={agentColour(agent)} title={agentName(agent)}>
          <AgentBadge agent={agent} />
          <span className="b-vh">{agentName(agent)}</span>
        </span>
      ))}
      <ByHand file={file} />
    </>
  );
}

/** `+78 −21`, or why there is no number. */
export function FileCounts({ file }: { readonly file: ChangedFile }): ReactNode {
  const { linesAdded, linesDeleted } = file;
  if (file.gap !== undefined) return <span className="b-num b-faint">not captured</span>;
  if (file.damaged) return <span className="b-chip b-bad">damaged</span>;
  if (file.binary) return <span className="b-num b-faint">binary</span>;
  if (file.type === "mode") return <span className="b-num b-faint">mode</span>;
  if (file.type === "renamed" && !linesAdded && !linesDeleted)
    return <span className="b-num b-faint">renamed</span>;
  return (
    <>
      <Lines plus={linesAdded} minus={linesDeleted} />
      <Gutter plus={linesAdded ?? 0} minus={linesDeleted ?? 0} />
    </>
  );
}

const CELLS = 5;

/** Five small squares: how much was added and removed, at a glance. */
function Gutter({ plus, minus }: { readonly plus: number; readonly minus: number }): ReactNode {
  const total = plus + minus;
  if (total === 0) return <span className="b-gut" />;
  const filled = Math.min(CELLS, Math.ceil(Math.log2(total + 1)));
  const green =
    plus === 0 ? 0 : Math.max(1, Math.min(filled - (minus > 0 ? 1 : 0), Math.round((filled * plus) / total)));
  return (
    <span className="b-gut" aria-hidden="true">
      {Array.from({ length: CELLS }, (_, index) => (
        <i key={index} className={index < green ? "b-p" : index < filled ? "b-m" : ""} />
      ))}
    </span>
  );
}
