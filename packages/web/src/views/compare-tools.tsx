/** The switches of a comparison, and the names of its two sides. */
import { Icon } from "@belay/react";
import type { ReactNode } from "react";

/** One side of the comparison. */
export function StatePick({
  letter,
  name,
}: {
  readonly letter: "A" | "B";
  readonly name: string;
}): ReactNode {
  return (
    <span className="b-pick" title={name}>
      <span className={letter === "A" ? "b-ab" : "b-ab b-b"}>{letter}</span>
      <span className="b-cut">{name}</span>
    </span>
  );
}

/** What the switches stand on. */
export interface CompareToolsProps {
  readonly layout: "unified" | "split";
  setLayout(layout: "unified" | "split"): void;
  readonly whitespace: "exact" | "ignore";
  setWhitespace(whitespace: "exact" | "ignore"): void;
  readonly wrap: "on" | "off";
  setWrap(wrap: "on" | "off"): void;
}

/** The switches. */
export function CompareTools(props: CompareToolsProps): ReactNode {
  const { layout, whitespace, wrap } = props;
  return (
    <div className="b-cmptools" role="toolbar" aria-label="How differences are shown">
      <div className="b-seg b-narrow-hide" role="group" aria-label="Layout">
        <button type="button" aria-pressed={layout === "unified"} onClick={() => props.setLayout("unified")}>
          <Icon name="unified" small />
          Unified
        </button>
        <button type="button" aria-pressed={layout === "split"} onClick={() => props.setLayout("split")}>
          <Icon name="split" small />
          Side by side
        </button>
      </div>
      <button
        type="button"
        className="b-btn b-s"
        aria-pressed={whitespace === "ignore"}
        onClick={() => props.setWhitespace(whitespace === "ignore" ? "exact" : "ignore")}
      >
        <Icon name="space" small />
        Hide whitespace
      </button>
      <button
        type="button"
        className="b-btn b-s"
        aria-pressed={wrap === "on"}
        onClick={() => props.setWrap(wrap === "on" ? "off" : "on")}
      >
        Wrap
      </button>
    </div>
  );
}
