/** The button with three dots, and the list of what else can be done with something. */
import { Icon } from "@belay/react";
import { useId, useRef, type KeyboardEvent, type ReactNode } from "react";

/** One entry; `why` says why it cannot be done now. */
export interface MenuItem {
  readonly words: string;
  readonly why?: string | undefined;
  act(): void;
}

/** The button with three dots and the list that it opens. */
export function MoreMenu(props: {
  /** What the list is about, for readers. */
  readonly about: string;
  readonly items: readonly MenuItem[];
}): ReactNode {
  const id = useId();
  const list = useRef<HTMLDivElement>(null);
  // [R1931] while the list is open no key is meant for the view around it: Escape closes the list, a letter does nothing
  const onKey = (event: KeyboardEvent) => {
    if (list.current?.matches(":popover-open")) event.stopPropagation();
  };
  return (
    <span className="b-menu-around" onKeyDown={onKey}>
      <button
        type="button"
        className="b-btn b-icon b-quiet b-s"
        popoverTarget={id}
        aria-label={`More about ${props.about}`}
        title="More"
      >
        <Icon name="more" />
      </button>
      <div
        ref={list}
        id={id}
        popover="auto"
        className="b-menu b-row-menu"
        role="group"
        aria-label={`More about ${props.about}`}
      >
        {props.items.map(({ words, why, act }) => (
          <button
            key={words}
            type="button"
            className="b-menu-item"
            aria-disabled={why !== undefined}
            onClick={() => {
              if (why !== undefined) return;
              list.current?.hidePopover();
              act();
            }}
          >
            <span className="b-col">
              {words}
              {why === undefined ? null : <span className="b-small b-muted">{why}</span>}
            </span>
          </button>
        ))}
      </div>
    </span>
  );
}
