/** The conflicts by path, those for a person first, and what needed no decision. */
import type { ReactNode } from "react";
import { Icon, PathName } from "../parts/icon.tsx";
import { visible, WORDS } from "../words.ts";
import type { ConflictEntry, MergedEntry, Severity } from "./question.ts";

const SHOWN = 5;

/** What the list shows. */
export interface ConflictListProps {
  readonly conflicts: readonly ConflictEntry[];
  readonly merged: readonly MergedEntry[];
  /** How many there are in all; the list has the first of them. */
  readonly mergedTotal: number;
  readonly selected: string | undefined;
  onSelect(id: string): void;
}

/** The list. */
export function ConflictList(props: ConflictListProps): ReactNode {
  const { conflicts, merged, mergedTotal } = props;
  const yours = conflicts.filter(({ isByAgent }) => !isByAgent);
  const agents = conflicts.filter(({ isByAgent }) => isByAgent);
  const done = yours.filter(({ decided }) => decided !== undefined).length;
  return (
    <nav className="b-tree b-conflicts" aria-label="Files">
      <div className="b-grp b-mod">
        For you to decide{" "}
        <span className="b-n">
          {done} of {yours.length} done
        </span>
      </div>
      {yours.map((entry) => (
        <Entry key={entry.id} {...props} entry={entry} />
      ))}
      {agents.length === 0 ? null : (
        <div className="b-grp b-kept">
          Merged by an agent <span className="b-n">{agents.length}</span>
        </div>
      )}
      {agents.map((entry) => (
        <Entry key={entry.id} {...props} entry={entry} />
      ))}
      {mergedTotal === 0 ? null : (
        <div className="b-grp b-kept">
          Merged by lines <span className="b-n">{mergedTotal}</span>
        </div>
      )}
      {merged.slice(0, SHOWN).map(({ path, severity, about }) => (
        <div key={path} className="b-filerow b-two">
          <Icon name="check" />
          <span className="b-col b-grow">
            <PathName path={path} />
            <Remark severity={severity} words={about} />
          </span>
        </div>
      ))}
      {mergedTotal > SHOWN ? <p className="b-more">{WORDS.more(mergedTotal - SHOWN)}</p> : null}
    </nav>
  );
}

function Entry({
  entry,
  selected,
  onSelect,
}: ConflictListProps & { readonly entry: ConflictEntry }): ReactNode {
  const { id, path, severity, reason, decided } = entry;
  return (
    <button
      type="button"
      className="b-filerow b-two"
      aria-current={id === selected ? "true" : undefined}
      onClick={() => onSelect(id)}
    >
      {decided === undefined ? (
        <span className="b-st b-M" aria-hidden="true">
          !
        </span>
      ) : (
        <span className="b-ok">
          <Icon name="check" />
        </span>
      )}
      <span className="b-col b-grow">
        <PathName path={path} />
        <Remark severity={severity} words={decided ?? reason} />
      </span>
      <span className="b-vh">{decided === undefined ? "open" : "decided"}</span>
    </button>
  );
}

function Remark({ severity, words }: { readonly severity: Severity; readonly words: string }): ReactNode {
  return (
    <span className="b-row b-gap4">
      <span className={`b-sev b-${severity}`}>{severity}</span>
      <span className="b-small b-muted b-cut">{visible(words)}</span>
    </span>
  );
}
