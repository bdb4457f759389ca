/** Search, undo with the name of what it would undo, redo, and a checkpoint. */
import { Icon, quoted, useLiveState, visible, type Status } from "@belay/react";
import { useEffect, useRef, useState, type ReactNode } from "react";
import { PAGE } from "../words.ts";

/** What the top bar does. */
export interface TopBarProps {
  readonly status: Status | undefined;
  readonly search: string;
  onSearch(words: string): void;
  onUndo(): void;
  onRedo(): void;
  onCheckpoint(): void;
}

const TYPING_MS = 60;

/** The bar at the top of the page. */
export function TopBar(props: TopBarProps): ReactNode {
  const { status } = props;
  const isWaiting = useLiveState().kind === "waiting";
  const reason = isWaiting ? "Not connected" : undefined;
  const undo = status?.canUndo ?? null;
  const redo = status?.canRedo ?? null;
  return (
    <>
      <SearchField {...props} />
      <span className="b-grow" />
      <Action
        icon="undo"
        words="Undo"
        of={undo && stepName(undo)}
        why={reason ?? (undo === null ? "There is no step left to undo" : undefined)}
        onPress={props.onUndo}
      />
      <Action
        icon="redo"
        words="Redo"
        of={redo && stepName(redo)}
        why={reason ?? (redo === null ? "Nothing was undone" : undefined)}
        onPress={props.onRedo}
      />
      <button
        type="button"
        className="b-btn b-main"
        aria-disabled={isWaiting}
        title={reason}
        onClick={() => !isWaiting && props.onCheckpoint()}
      >
        <Icon name="flag" />
        <span className="b-wide">Checkpoint</span>
        <span className="b-vh">: keep this state</span>
      </button>
    </>
  );
}

/** The prompt, or what Belay did; numbers of checkpoints stand in the details only. */
function stepName({ prompt, description }: NonNullable<Status["canUndo"]>): string {
  return prompt ?? description.replace(/checkpoint \d+ \((.*?)\)?$/s, "“$1”");
}

function Action(props: {
  readonly icon: "undo" | "redo";
  readonly words: string;
  readonly of: string | null;
  readonly why: string | undefined;
  onPress(): void;
}): ReactNode {
  const { why } = props;
  const of = props.of === null ? "" : visible(props.of);
  return (
    <button
      type="button"
      className="b-btn"
      aria-disabled={why !== undefined}
      title={why ?? `${props.words} ${quoted(of)}`}
      aria-label={why === undefined ? undefined : `${props.words}${of && ` ${of}`}: ${why}`}
      onClick={() => why === undefined && props.onPress()}
    >
      <Icon name={props.icon} />
      <span className={props.words === "Undo" ? "" : "b-wide"}>{props.words} </span>
      {of === "" ? null : <span className="b-of b-wide">{of}</span>}
    </button>
  );
}

function SearchField({ search, onSearch }: Pick<TopBarProps, "search" | "onSearch">): ReactNode {
  const [words, setWords] = useState(search);
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => setWords(search), [search]);
  useEffect(() => {
    if (words === search) return;
    const timer = setTimeout(() => onSearch(words), TYPING_MS);
    return () => clearTimeout(timer);
  }, [words]);
  return (
    <label className="b-field b-soft b-grow b-search">
      <Icon name="search" />
      <input
        ref={field}
        id="search"
        type="search"
        value={words}
        placeholder={PAGE.search}
        aria-label={PAGE.search}
        maxLength={400}
        onChange={(event) => setWords(event.target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key !== "Escape" && event.key !== "Enter") return;
          if (event.key === "Escape") onSearch("");
          document.querySelector<HTMLElement>(".b-rows")?.focus();
        }}
      />
      <kbd className="b-wide">/</kbd>
    </label>
  );
}
