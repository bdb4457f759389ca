/** What a choice comes to, compared with the disk; or the field in which a person writes it. */
import type { ReactNode } from "react";
import { CodeLines } from "../diff/code-lines.tsx";
import { drawnPatch, hunkText } from "../diff/patch.ts";
import { Icon } from "../parts/icon.tsx";
import { visible, WORDS } from "../words.ts";
import { CONFLICT_WORDS } from "./conflict-words.ts";
import type { Choice, Tried } from "./question.ts";

const LOOK = { layout: "unified", wrap: false, words: true } as const;
const MOST_HUNKS = 40;

/** The choice and what is known of it. */
export interface ResultProps {
  readonly path: string;
  readonly choice: Choice | undefined;
  /** In words: "proposed merge". */
  readonly words: string;
  readonly tried: Tried | undefined;
  readonly problem: string | undefined;
  /** Left out where there is no text to write. */
  readonly onWrite: ((text: string) => void) | undefined;
}

/** What the file will hold by the decision, to look at or to edit. */
export function ConflictResult(props: ResultProps): ReactNode {
  const { choice, words, tried, problem, onWrite } = props;
  if (choice === undefined)
    return <p className="b-small b-muted">Choose one of the above, and its result stands here.</p>;
  const canEdit = onWrite !== undefined && !("text" in choice) && tried?.text !== undefined;
  return (
    <article className="b-diff b-result" aria-label="Result">
      <div className="b-side-t">
        <Icon name="check" small />
        <span className="b-strong">Result</span>
        <span className="b-muted b-cut">{words}, compared with the disk</span>
        <span className="b-grow" />
        {tried?.isWhole ? <Checked {...tried} /> : null}
        {canEdit ? (
          <button type="button" className="b-btn b-s b-quiet" onClick={() => onWrite(tried.text!)}>
            <Icon name="edit" small />
            Edit
          </button>
        ) : null}
      </div>
      {"text" in choice && onWrite !== undefined ? (
        <textarea
          className="b-field b-write"
          aria-label={`The text of ${props.path}`}
          value={choice.text}
          spellCheck={false}
          rows={Math.min(24, choice.text.split("\n").length + 2)}
          onKeyDown={(event) => event.key !== "Escape" && event.stopPropagation()}
          onChange={(event) => onWrite(event.target.value)}
        />
      ) : null}
      {problem === undefined ? null : (
        <p className="b-skip b-bad" role="alert">
          {visible(problem)}
        </p>
      )}
      {tried === undefined ? null : <TriedLines path={props.path} tried={tried} />}
    </article>
  );
}

/** What the check found, where one was made: a text that does not parse can be taken all the same. */
function Checked({ problems, parses }: Pick<Tried, "problems" | "parses">): ReactNode {
  const [first = parses === false ? CONFLICT_WORDS.broken : undefined] = problems;
  if (first === undefined)
    return parses === null ? null : (
      <span className="b-chip b-ok">
        <Icon name="check" small />
        {CONFLICT_WORDS.parses}
      </span>
    );
  return (
    <span className="b-chip b-warn" title={visible(problems.join("; "))}>
      <Icon name="warn" small />
      {visible(parses === false ? CONFLICT_WORDS.broken : first)}
    </span>
  );
}

function TriedLines({ path, tried }: { readonly path: string; readonly tried: Tried }): ReactNode {
  const { hunks, instead, isWhole } = tried;
  if (!isWhole) return <p className="b-skip">Choose for the other places too.</p>;
  if (instead !== undefined) return <p className="b-skip">{instead}</p>;
  if (hunks.length === 0) return <p className="b-skip">{CONFLICT_WORDS.stays}</p>;
  return (
    <>
      {hunks.slice(0, MOST_HUNKS).map((hunk) => (
        <CodeLines
          key={`${hunk.oldStart} ${hunk.newStart}`}
          patch={drawnPatch(path, hunkText(hunk))}
          look={LOOK}
        />
      ))}
      {hunks.length > MOST_HUNKS ? (
        <p className="b-skip">{WORDS.more(hunks.length - MOST_HUNKS)} hunks</p>
      ) : null}
    </>
  );
}
