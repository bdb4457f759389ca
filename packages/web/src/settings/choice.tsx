/** A setting that is one of a few words, all of which are in view. */
import type { ReactNode } from "react";

/** What can be chosen, and what is. */
export interface ChoiceProps<Value extends string> {
  readonly words: string;
  readonly about?: ReactNode;
  /** Undefined while it is not known. */
  readonly value: Value | undefined;
  readonly choices: readonly (readonly [value: Value, words: string, about?: string])[];
  onChange(value: Value): void;
}

/** The row of such a setting. */
export function Choice<Value extends string>(props: ChoiceProps<Value>): ReactNode {
  const { words, about, value, choices, onChange } = props;
  return (
    <div className="b-way">
      <span className="b-strong">{words}</span>
      <div className="b-seg" role="group" aria-label={words}>
        {choices.map(([choice, name]) => (
          <button
            key={choice}
            type="button"
            aria-pressed={choice === value}
            onClick={() => choice !== value && onChange(choice)}
          >
            {name}
          </button>
        ))}
      </div>
      <p className="b-small b-muted">{about}</p>
    </div>
  );
}
