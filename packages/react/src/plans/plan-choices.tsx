/** What a restore takes back, and what becomes of files made since. */
import type { ReactNode } from "react";
import type { Scope } from "./use-plan.ts";

const SCOPES = [
  ["files", "Files"],
  ["conversation", "Conversation"],
  ["both", "Both"],
] as const;

/** Files, conversation, or both. */
export function ScopeChoice(props: { readonly scope: Scope; onChange(scope: Scope): void }): ReactNode {
  return (
    <div className="b-seg" role="group" aria-label="What goes back">
      {SCOPES.map(([scope, words]) => (
        <button
          key={scope}
          type="button"
          aria-pressed={scope === props.scope}
          onClick={() => props.onChange(scope)}
        >
          {words}
        </button>
      ))}
    </div>
  );
}

/** Exactly as it was, or with the files made since. */
export function NewFiles(props: { readonly keepNew: boolean; onChange(keepNew: boolean): void }): ReactNode {
  return (
    <fieldset className="b-row b-gap16 b-plain">
      <legend className="b-vh">Files made since</legend>
      {[
        { keepNew: false, words: "Exactly as it was" },
        { keepNew: true, words: "Keep files made since" },
      ].map(({ keepNew, words }) => (
        <label key={words} className="b-choice">
          <input
            type="radio"
            name="keep-new"
            className="b-radio"
            checked={props.keepNew === keepNew}
            onChange={() => props.onChange(keepNew)}
          />
          {words}
        </label>
      ))}
    </fieldset>
  );
}
