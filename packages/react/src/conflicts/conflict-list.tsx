/** The conflicts by path, those for a person first, and what needed no decision. */
import { useState, type ReactNode } from "react";
import { Icon, PathName } from "../parts/icon.tsx";
import { visible, WORDS } from "../words.ts";
import type { ConflictEntry, Severity } from "./question.ts";

const SHOWN = 5;

/** What the list shows. */
export interface ConflictListProps {
  readonly conflicts: readonly ConflictEntry[];
  readonly selected: string | undefined;
  onSelect(id: string): void;
}

/** The conflicts of a merge or plan, to choose one from. */
export function ConflictList(props: ConflictListProps): ReactNode {
  const { conflicts, selected } = props;
  const [isWhole, setWhole] = useState(false);
  const of = (group: ConflictEntry["group"]) => conflicts.filter((entry) => entry.group === group);
  const [yours, agents, lines] = [of("yours"), of("agent"), of("lines")];
  const done = yours.filter(({ decided }) => decided !== undefined).length;
  // what lies on the desk stays in the list
  const shown = isWhole ? lines : lines.filter(({ id }, at) => at < SHOWN || id === selected);
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
      {lines.length === 0 ? null : (
        <div className="b-grp b-kept">
          Merged by lines <span className="b-n">{lines.length}</span>
        </div>
      )}
      {shown.map((entry) => (
        <Entry key={entry.id} {...props} entry={entry} />
      ))}
      {shown.length < lines.length ? (
        <button type="button" className="b-more" onClick={() => setWhole(true)}>
          {WORDS.more(lines.length - shown.length)}
        </button>
      ) : null}
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
