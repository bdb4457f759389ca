/** One side of a comparison, and the states that can take its place. */
import {
  afterOf,
  dayAndClock,
  targetOf,
  useBelay,
  useLoaded,
  visible,
  type HistoryRow,
  type Target,
} from "@belay/react";
import { useId, useRef, useState, type ReactNode } from "react";

const LISTED = 50;

/** What a side shows and lets choose. */
export interface StatePickProps {
  readonly letter: "A" | "B";
  readonly name: string;
  /** The id of the state, or "disk". */
  readonly state: string;
  /** The older side is always a checkpoint. */
  readonly hasDisk?: boolean;
  onPick(state: string): void;
}

/** The side; pressing it lists the states around what happened, newest first. */
export function StatePick({ letter, name, state, hasDisk = false, onPick }: StatePickProps): ReactNode {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  const [isOpen, setOpen] = useState(false);
  const [words, setWords] = useState("");
  const pick = (next: string) => {
    list.current?.hidePopover();
    onPick(next);
  };
  return (
    <>
      <button
        type="button"
        className="b-pick"
        popoverTarget={id}
        title={name}
        aria-label={`${letter} ${name}; choose another state`}
      >
        <span className={letter === "A" ? "b-ab" : "b-ab b-b"}>{letter}</span>{" "}
        <span className="b-cut">{name}</span>
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        className="b-menu b-states"
        role="group"
        aria-label={`States for ${letter}`}
        onToggle={(event) => setOpen(event.newState === "open")}
        onKeyDown={(event) => event.stopPropagation()}
      >
        <input
          className="b-field"
          type="search"
          placeholder="Search states"
          aria-label={`Search states for ${letter}`}
          value={words}
          onChange={(event) => setWords(event.target.value)}
        />
        {hasDisk ? (
          <Choice isCurrent={state === "disk"} name="the files on disk" onPick={() => pick("disk")} />
        ) : null}
        {isOpen ? <States words={words} state={state} onPick={pick} /> : null}
      </div>
    </>
  );
}

function States(props: {
  readonly words: string;
  readonly state: string;
  onPick(state: string): void;
}): ReactNode {
  const { client, workspace } = useBelay();
  const q = props.words.trim();
  const { value, error } = useLoaded(`states ${workspace} ${q} !`, () =>
    client.call("GET /api/history", { query: { workspace, limit: LISTED, ...(q && { q }) } }),
  );
  if (error !== undefined) return <p className="b-skip">{visible(error.message)}</p>;
  const states = (value?.rows ?? []).flatMap(statesOf);
  if (value !== undefined && states.length === 0) return <p className="b-skip">No state is like this.</p>;
  return states.map(({ checkpoint, name, at }) => (
    <Choice
      key={`${checkpoint} ${name}`}
      name={name}
      at={at}
      isCurrent={checkpoint === props.state}
      onPick={() => props.onPick(checkpoint)}
    />
  ));
}

/** The states around a row, the newer one first; a checkpoint is one itself. */
function statesOf(row: HistoryRow): Target[] {
  const [after, before] = [afterOf(row), targetOf(row)];
  const both = [after, before].filter((each) => each !== undefined);
  return both.filter(
    (each, index) => both.findIndex((other) => other.checkpoint === each.checkpoint) === index,
  );
}

function Choice(props: {
  readonly name: string;
  readonly at?: string;
  readonly isCurrent: boolean;
  onPick(): void;
}): ReactNode {
  const { name, at } = props;
  return (
    <button
      type="button"
      className="b-menu-item"
      aria-current={props.isCurrent ? "true" : undefined}
      onClick={props.onPick}
    >
      <span className="b-cut b-grow">{visible(name)}</span>
      {at === undefined ? null : <span className="b-tiny b-faint b-nowrap">{dayAndClock(at)}</span>}
    </button>
  );
}
