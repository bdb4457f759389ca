/** The field that finds words in a diff: how many hits, and the way from one to the next. */
import { useEffect, useRef, type ReactNode } from "react";
import { Icon } from "../parts/icon.tsx";
import { quantity } from "../words.ts";
import type { Find } from "./find.ts";

/** The bar; Enter and Shift+Enter go on and back, Esc closes it. */
export function FindBar({ find, onClose }: { readonly find: Find; onClose(): void }): ReactNode {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  const close = () => {
    find.setWords("");
    onClose();
  };
  return (
    <div className="b-find" role="search" aria-label="Find in diff">
      <label className="b-field b-soft">
        <Icon name="search" small />
        <input
          ref={field}
          type="search"
          aria-label="Find in diff"
          placeholder="Find in diff"
          value={find.words}
          maxLength={400}
          onChange={(event) => find.setWords(event.target.value)}
          onKeyDown={(event) => {
            event.stopPropagation();
            if (event.key === "Enter") find.go(event.shiftKey ? -1 : 1);
            if (event.key === "Escape") close();
          }}
        />
      </label>
      <span className="b-small b-muted b-nowrap" role="status">
        {foundWords(find)}
      </span>
      <button
        type="button"
        className="b-btn b-s b-icon"
        aria-label="Previous hit"
        onClick={() => find.go(-1)}
      >
        <Icon name="up" small />
      </button>
      <button type="button" className="b-btn b-s b-icon" aria-label="Next hit" onClick={() => find.go(1)}>
        <Icon name="down" small />
      </button>
      <button
        type="button"
        className="b-btn b-s b-quiet b-icon"
        aria-label="Close the search"
        onClick={close}
      >
        <Icon name="x" small />
      </button>
    </div>
  );
}

/** "3 of 17", "17 lines", "no line"; and what was not searched. */
function foundWords({ words, hits, at, isSearching, skipped }: Find): string {
  if (words === "") return "";
  const found =
    hits === 0
      ? isSearching
        ? "searching…"
        : "no line has it"
      : at > 0
        ? `${at.toLocaleString("en")} of ${hits.toLocaleString("en")}`
        : quantity(hits, "line");
  return skipped === 0 ? found : `${found}; ${quantity(skipped, "long file")} not searched`;
}
