/** What a restore takes back, and what becomes of files made since. */
import type { ReactNode } from "react";
import type { Choices, Scope } from "./use-plan.ts";

/** The choices of a restore, above the list of files. */
export function RestoreChoices(props: {
  readonly choices: Choices;
  /** Without a thread there is no conversation. */
  readonly hasThread: boolean;
  onChange(part: Partial<Choices>): void;
}): ReactNode {
  const { choices, hasThread, onChange } = props;
  return (
    <div className="b-row b-gap16 b-wraps">
      {hasThread ? <ScopeChoice scope={choices.scope} onChange={(scope) => onChange({ scope })} /> : null}
      {choices.scope === "conversation" ? null : (
        <NewFiles keepNew={choices.keepNew} onChange={(keepNew) => onChange({ keepNew })} />
      )}
    </div>
  );
}

/** What stands in place of files where only the conversation goes back. */
export function OnlyTalk(): ReactNode {
  return (
    <p className="b-dialog-choices b-muted">
      No file changes. The messages after this point are marked, never removed; the agent gets a conversation
      that ends here, where it can.
    </p>
  );
}

const SCOPES = [
  ["files", "Files"],
  ["conversation", "Conversation"],
  ["both", "Both"],
] as const;

function ScopeChoice(props: { readonly scope: Scope; onChange(scope: Scope): void }): ReactNode {
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

function NewFiles(props: { readonly keepNew: boolean; onChange(keepNew: boolean): void }): ReactNode {
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
