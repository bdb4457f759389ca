/**
 * Where conflicts are decided, one after the other: options, versions, result. When all are decided the summary stands in
 * their place, and its button is the first that writes. Leaving leaves everything as it is.
 */
import { useEffect, useRef, useState, type KeyboardEvent, type ReactNode } from "react";
import type { Loaded } from "../data/loaded.ts";
import { Icon } from "../parts/icon.tsx";
import { visible } from "../words.ts";
import { ConflictList } from "./conflict-list.tsx";
import { CONFLICT_WORDS } from "./conflict-words.ts";
import { OptionCards } from "./option-cards.tsx";
import type { Choice, ConflictEntry, ConflictQuestion, Tried } from "./question.ts";
import { ConflictResult } from "./result.tsx";
import { ConflictSides } from "./sides.tsx";

/** Where conflicts come from, and where decisions go. */
export interface ConflictSource {
  readonly conflicts: readonly ConflictEntry[];
  /** A hook: everything about one conflict. */
  useQuestion(id: string | undefined): Loaded<ConflictQuestion>;
  /** A hook: what a choice comes to. */
  useTried(id: string | undefined, choice: Choice | undefined): Loaded<Tried>;
  decide(id: string, choice: Choice): Promise<void>;
  reopen(id: string): Promise<void>;
}

/** How many conflicts a person is asked about. */
export function countYours({ conflicts }: Pick<ConflictSource, "conflicts">): number {
  return conflicts.filter(({ group }) => group === "yours").length;
}

/** What the desk shows and what leads away from it. */
export interface ConflictDeskProps {
  readonly source: ConflictSource;
  /** Stands in the middle when everything is decided. */
  readonly summary: ReactNode;
  /** The one button that writes. */
  readonly apply: {
    readonly words: string;
    /** Why it cannot be pressed now. */
    readonly why: string | undefined;
    run(): void;
  };
  /** What can be done besides, at the left of the buttons. */
  readonly more?: ReactNode;
  /** Digits and letters act; the host may have switched them off. */
  readonly hasKeys?: boolean;
  onLeave(): void;
}

/** Where conflicts are decided: the list, the sides and the result. */
export function ConflictDesk(props: ConflictDeskProps): ReactNode {
  const { source } = props;
  const desk = useDesk(props);
  const { entry, question, choice, tried, problem } = desk;
  const whole = useRef<HTMLElement>(null);
  useEffect(() => whole.current?.focus(), []);
  return (
    <main className="b-cmp" ref={whole} tabIndex={-1} onKeyDown={(event) => onKey(event, props, desk)}>
      <ConflictList conflicts={source.conflicts} selected={entry?.id} onSelect={desk.select} />
      <section className="b-cmpmain" aria-label={entry === undefined ? "Summary" : visible(entry.path)}>
        <div className="b-cmpbody" tabIndex={0} role="region" aria-label="Decision">
          {entry === undefined ? (
            props.summary
          ) : (
            <>
              <DeskHead {...desk} />
              {problem === undefined ? null : (
                <p className="b-bad" role="alert">
                  {visible(problem)}
                </p>
              )}
              {question === undefined ? null : (
                <>
                  <OptionCards question={question} choice={choice} onChoose={desk.choose} />
                  <ConflictSides
                    question={question}
                    chosen={choice !== undefined && "regions" in choice ? choice.regions : {}}
                    onRegion={desk.chooseRegion}
                  />
                  <ConflictResult
                    path={question.path}
                    choice={choice}
                    words={choiceWords(question, choice)}
                    tried={tried.value}
                    problem={tried.error?.message}
                    onWrite={question.draft === undefined ? undefined : (text) => desk.choose({ text })}
                  />
                </>
              )}
            </>
          )}
        </div>
        <DeskFoot {...props} desk={desk} />
      </section>
    </main>
  );
}

type Desk = ReturnType<typeof useDesk>;

/** Which conflict lies on the desk, and what is chosen for it. */
function useDesk({ source }: ConflictDeskProps) {
  const [selected, setSelected] = useState<string>();
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const [problem, setProblem] = useState<string>();
  const { conflicts } = source;
  const isOpen = ({ decided }: ConflictEntry) => decided === undefined;
  const yours = conflicts.filter(({ group }) => group === "yours");
  const entry = conflicts.find(({ id }) => id === selected) ?? conflicts.find(isOpen);
  const { value, error } = source.useQuestion(entry?.id);
  const question = value?.id === entry?.id ? value : undefined;
  const choice = entry && (choices.get(entry.id) ?? question?.chosen);
  const tried = source.useTried(entry?.id, choice);
  const choose = (next: Choice) => entry && setChoices(new Map(choices).set(entry.id, next));
  const said = async (doing: Promise<void>): Promise<boolean> => {
    try {
      await doing;
      setProblem(undefined);
      return true;
    } catch (failure) {
      setProblem((failure as Error).message);
      return false;
    }
  };
  const move = (by: 1 | -1) => {
    const at = conflicts.findIndex(({ id }) => id === entry?.id);
    setSelected(conflicts[(at + by + conflicts.length) % conflicts.length]?.id);
  };
  return {
    entry,
    question,
    choice,
    tried,
    problem: problem ?? error?.message,
    done: yours.filter((each) => !isOpen(each)).length,
    all: yours.length,
    isOnly: conflicts.length < 2,
    canUse: tried.value?.isWhole === true && isSame(tried.value.choice, choice),
    select: setSelected,
    choose,
    chooseRegion: (region: number, take: string) =>
      choose({
        regions: { ...(choice !== undefined && "regions" in choice && choice.regions), [region]: take },
      }),
    next: () => move(1),
    previous: () => move(-1),
    /** Decides as chosen, and goes on with the next open one. */
    use: async () => {
      if (entry === undefined || choice === undefined) return;
      if (await said(source.decide(entry.id, choice))) setSelected(undefined);
    },
    reopen: async () => {
      if (entry === undefined || !(await said(source.reopen(entry.id)))) return;
      const rest = new Map(choices);
      rest.delete(entry.id);
      setChoices(rest);
      setSelected(entry.id);
    },
  };
}

function DeskHead({ question, entry, isOnly, previous, next }: Desk): ReactNode {
  const place = question === undefined || question.place === "" ? "" : `, ${question.place}`;
  return (
    <div className="b-row b-between b-desk-head">
      <div className="b-col">
        <h2>
          <bdi>{visible(entry?.path ?? "")}</bdi>
          {place}
        </h2>
        <span className="b-small b-muted">{visible(question?.why ?? "")}</span>
      </div>
      <span className="b-row b-gap4">
        <button
          type="button"
          className="b-btn b-s b-icon"
          aria-label="Previous conflict"
          aria-disabled={isOnly}
          title={isOnly ? "There is no other file" : "Previous file"}
          onClick={previous}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          className="b-btn b-s b-icon"
          aria-label="Next conflict"
          aria-disabled={isOnly}
          title={isOnly ? "There is no other file" : "Next file"}
          onClick={next}
        >
          <Icon name="down" />
        </button>
      </span>
    </div>
  );
}

function DeskFoot(props: ConflictDeskProps & { readonly desk: Desk }): ReactNode {
  const { desk, apply, onLeave, more } = props;
  const { entry, done, all, canUse } = desk;
  const isDecided = entry?.decided !== undefined;
  // what was merged by lines is decided in any case: another option is chosen, and nothing has to be opened again
  const canReopen = isDecided && entry?.group !== "lines";
  const isLast = done + (isDecided ? 0 : 1) >= all;
  return (
    <footer className="b-applybar">
      <span className="b-grow b-small b-muted" role="status">
        {CONFLICT_WORDS.decided(done, all)} {CONFLICT_WORDS.written}
      </span>
      {more}
      <button type="button" className="b-btn" onClick={onLeave}>
        {CONFLICT_WORDS.leave} <kbd>Esc</kbd>
      </button>
      {canReopen ? (
        <button type="button" className="b-btn" onClick={() => void desk.reopen()}>
          <Icon name="undo" />
          Decide again
        </button>
      ) : null}
      {entry === undefined ? (
        <button
          type="button"
          className="b-btn b-main"
          aria-disabled={apply.why !== undefined}
          title={apply.why}
          onClick={() => apply.why === undefined && apply.run()}
        >
          {apply.words} <kbd>Ctrl ⏎</kbd>
        </button>
      ) : (
        <button
          type="button"
          className="b-btn b-main"
          aria-disabled={!canUse}
          title={canUse ? undefined : "Choose first what to do"}
          onClick={() => canUse && void desk.use()}
        >
          {isLast ? "Use this, see the summary" : "Use this, next file"} <kbd>⏎</kbd>
        </button>
      )}
    </footer>
  );
}

/** What was tried is what is chosen, even while the same choice is being tried on newer files. */
function isSame(tried: Choice, choice: Choice | undefined): boolean {
  return JSON.stringify(tried) === JSON.stringify(choice);
}

/** The choice in words, under the result. */
function choiceWords({ options }: ConflictQuestion, choice: Choice | undefined): string {
  if (choice === undefined) return "";
  if ("text" in choice) return "your own text";
  if ("regions" in choice) return "place by place";
  return options.find(({ id }) => id === choice.take)?.words.toLowerCase() ?? choice.take;
}

function onKey(event: KeyboardEvent, props: ConflictDeskProps, desk: Desk): void {
  const element = event.target as HTMLElement;
  if (event.defaultPrevented || event.altKey || element.matches("textarea, input[type=search]")) {
    if (event.key !== "Escape") return;
  }
  const act = keyAction(event, props, desk);
  if (act === undefined) return;
  event.preventDefault();
  act();
}

function keyAction(
  event: KeyboardEvent,
  { apply, onLeave, hasKeys = true }: ConflictDeskProps,
  desk: Desk,
): (() => void) | undefined {
  const { key, repeat } = event;
  if (key === "Escape") return onLeave;
  if (repeat) return undefined;
  const isControl = (event.target as HTMLElement).closest("button, a, summary") !== null;
  if (key === "Enter") {
    if (event.ctrlKey || event.metaKey)
      return desk.entry === undefined && apply.why === undefined ? apply.run : undefined;
    return isControl || desk.entry === undefined || !desk.canUse ? undefined : () => void desk.use();
  }
  if (!hasKeys || event.ctrlKey || event.metaKey) return undefined;
  const { question } = desk;
  const option = question?.options[Number(key) - 1];
  if (option !== undefined) return () => desk.choose({ take: option.id });
  if (question?.draft !== undefined && Number(key) === question.options.length + 1)
    return () => desk.choose({ text: desk.tried.value?.text ?? question.draft! });
  const moves: Readonly<Record<string, () => void>> = {
    ".": desk.next,
    j: desk.next,
    ",": desk.previous,
    k: desk.previous,
  };
  return moves[key];
}
