/** The switches of a comparison. */
import { Icon, quantity } from "@belay/react";
import type { ReactNode } from "react";

/** What the switches stand on. */
export interface CompareToolsProps {
  readonly layout: "unified" | "split";
  setLayout(layout: "unified" | "split"): void;
  readonly whitespace: "exact" | "ignore";
  setWhitespace(whitespace: "exact" | "ignore"): void;
  readonly wrap: "on" | "off";
  setWrap(wrap: "on" | "off"): void;
  readonly words: "on" | "off";
  setWords(words: "on" | "off"): void;
}

/** What the buttons at the right do. */
interface CompareActions {
  readonly files: number;
  onFind(): void;
  onStep(by: 1 | -1): void;
}

/** The switches of a comparison: layout, white space, wrapping, words. */
export function CompareTools(props: CompareToolsProps & CompareActions): ReactNode {
  const { layout, whitespace, wrap, words } = props;
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
      <Switch
        words="Words"
        isOn={words === "on"}
        onChange={() => props.setWords(words === "on" ? "off" : "on")}
      />
      <Switch
        words="Hide whitespace"
        isOn={whitespace === "ignore"}
        onChange={() => props.setWhitespace(whitespace === "ignore" ? "exact" : "ignore")}
      />
      <Switch
        words="Wrap"
        isOn={wrap === "on"}
        onChange={() => props.setWrap(wrap === "on" ? "off" : "on")}
      />
      <span className="b-grow" />
      <button type="button" className="b-btn b-s b-quiet" onClick={props.onFind}>
        <Icon name="search" small />
        Find in diff
      </button>
      <span className="b-small b-muted b-nowrap b-wide">{quantity(props.files, "file")}</span>
      <span className="b-row b-gap4 b-narrow-hide">
        <button
          type="button"
          className="b-btn b-s b-icon"
          aria-label="Previous file"
          onClick={() => props.onStep(-1)}
        >
          <Icon name="up" small />
        </button>
        <button
          type="button"
          className="b-btn b-s b-icon"
          aria-label="Next file"
          onClick={() => props.onStep(1)}
        >
          <Icon name="down" small />
        </button>
      </span>
    </div>
  );
}

function Switch(props: { readonly words: string; readonly isOn: boolean; onChange(): void }): ReactNode {
  return (
    <label className="b-choice">
      <input type="checkbox" className="b-box" checked={props.isOn} onChange={props.onChange} />
      {props.words}
    </label>
  );
}
