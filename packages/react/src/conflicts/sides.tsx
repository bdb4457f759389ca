/** The versions of a file in conflict, next to each other. */
import { useState, type ReactNode } from "react";
import { visibleCode, WORDS } from "../words.ts";
import type { ConflictQuestion, Excerpt, Option, Side } from "./question.ts";

/** The versions, and what each place becomes where that can be chosen. */
export interface SidesProps {
  readonly question: ConflictQuestion;
  /** By the number of the place, counted from 1. */
  readonly chosen: Readonly<Record<string, string>>;
  onRegion(region: number, take: string): void;
}

/** Both sides, place by place; what was before both stands there on request. */
export function ConflictSides({ question, chosen, onRegion }: SidesProps): ReactNode {
  const [isBaseShown, setBaseShown] = useState(false);
  const { sides, regionOptions } = question;
  const base = sides.find(({ id }) => id === "base");
  const shown = sides.filter(({ id }) => id !== "base" || isBaseShown);
  const places = Math.max(0, ...sides.map(({ excerpts }) => excerpts.length));
  return (
    <div className="b-places">
      {Array.from({ length: places }, (_, at) => (
        <section key={at} aria-label={places > 1 ? `Place ${at + 1} of ${places}` : "Both sides"}>
          {places > 1 || regionOptions.length > 0 ? (
            <RegionChoice
              words={places > 1 ? `Place ${at + 1} of ${places}` : "These lines"}
              name={`region-${at + 1}`}
              options={regionOptions}
              chosen={chosen[String(at + 1)]}
              onChoose={(take) => onRegion(at + 1, take)}
            />
          ) : null}
          <div className={shown.length > 2 ? "b-sides b-three" : "b-sides"}>
            {shown.map((side) => (
              <SideCard key={side.id} side={side} excerpt={side.excerpts[at]} />
            ))}
          </div>
        </section>
      ))}
      {base === undefined ? null : (
        <button
          type="button"
          className="b-btn b-s b-quiet"
          aria-pressed={isBaseShown}
          onClick={() => setBaseShown(!isBaseShown)}
        >
          {isBaseShown ? "Hide what was before" : "Show what was before"}
        </button>
      )}
    </div>
  );
}

/** One place, decided by itself. */
function RegionChoice(props: {
  readonly words: string;
  readonly name: string;
  readonly options: readonly Option[];
  readonly chosen: string | undefined;
  onChoose(take: string): void;
}): ReactNode {
  const { words, name, options, chosen } = props;
  return (
    <fieldset className="b-row b-gap16 b-plain b-wraps b-region">
      <legend className="b-vh">{words}: only here</legend>
      <span className="b-small b-strong" aria-hidden="true">
        {words}
      </span>
      {options.map(({ id, words: option }) => (
        <label key={id} className="b-choice">
          <input
            type="radio"
            className="b-radio"
            name={name}
            checked={chosen === id}
            onChange={() => props.onChoose(id)}
          />
          {option}
        </label>
      ))}
    </fieldset>
  );
}

function SideCard({
  side,
  excerpt,
}: {
  readonly side: Side;
  readonly excerpt: Excerpt | undefined;
}): ReactNode {
  return (
    <article className="b-diff" aria-label={side.title}>
      <div className="b-side-t">
        <span className="b-strong">{side.title}</span>
        <span className="b-muted b-cut">{side.who}</span>
      </div>
      {excerpt === undefined || excerpt.instead !== undefined ? (
        <p className="b-skip">{excerpt?.instead ?? "No such lines."}</p>
      ) : (
        <ExcerptLines excerpt={excerpt} of={side.title} />
      )}
    </article>
  );
}

/** The lines with their numbers; those in conflict are marked by a sign and a colour. */
function ExcerptLines({ excerpt, of }: { readonly excerpt: Excerpt; readonly of: string }): ReactNode {
  const { lines, line, more, marked = [0, lines.length] } = excerpt;
  if (lines.length === 0) return <p className="b-skip">These lines are not there.</p>;
  return (
    <div className="b-lines b-excerpt" tabIndex={0} role="group" aria-label={`Lines: ${of}`}>
      {lines.map((text, at) => {
        const isMarked = at >= marked[0] && at < marked[1];
        return (
          <div key={at} className={isMarked ? "b-l b-h" : "b-l"}>
            <b aria-hidden="true">{line === null ? "" : line + at}</b>
            <i aria-hidden="true">{isMarked ? "!" : ""}</i>
            <code>{visibleCode(text.replace(/\r$/, "")) || " "}</code>
          </div>
        );
      })}
      {more > 0 ? <p className="b-skip">{WORDS.more(more)}</p> : null}
    </div>
  );
}
