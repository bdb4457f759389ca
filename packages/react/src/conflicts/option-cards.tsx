/** The options of a conflict as cards, one of which is chosen. */
import type { ReactNode } from "react";
import { visible } from "../words.ts";
import { CONFLICT_WORDS } from "./conflict-words.ts";
import type { Choice, ConflictQuestion } from "./question.ts";

/** What can be chosen for a whole file in conflict. */
export function OptionCards(props: {
  readonly question: ConflictQuestion;
  readonly choice: Choice | undefined;
  onChoose(choice: Choice): void;
}): ReactNode {
  const { question, choice, onChoose } = props;
  const { options, draft } = question;
  const taken = choice !== undefined && "take" in choice ? choice.take : undefined;
  return (
    <fieldset className="b-plain">
      <legend className="b-vh">What to do with {visible(question.path)}</legend>
      <div className="b-opts">
        {options.map(({ id, words, about }, at) => (
          <Card
            key={id}
            number={at + 1}
            words={words}
            about={about}
            isChosen={taken === id}
            onChoose={() => onChoose({ take: id })}
          />
        ))}
        {draft === undefined ? null : (
          <Card
            number={options.length + 1}
            words={CONFLICT_WORDS.write}
            about={question.draftAbout ?? CONFLICT_WORDS.writeAbout}
            isChosen={choice !== undefined && "text" in choice}
            onChoose={() => onChoose({ text: draft })}
          />
        )}
      </div>
    </fieldset>
  );
}

function Card(props: {
  readonly number: number;
  readonly words: string;
  readonly about: string;
  readonly isChosen: boolean;
  onChoose(): void;
}): ReactNode {
  const { number, words, about, isChosen } = props;
  return (
    <label className={isChosen ? "b-optcard b-on" : "b-optcard"}>
      <span className="b-t">
        <input
          type="radio"
          className="b-radio"
          name="decision"
          checked={isChosen}
          onChange={props.onChoose}
        />
        <kbd aria-hidden="true">{number}</kbd>
        <span>{visible(words)}</span>
      </span>
      <span className="b-small b-muted">{visible(about)}</span>
    </label>
  );
}
