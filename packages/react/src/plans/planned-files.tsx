/** The files of a plan in groups, most serious first, each with a box to leave it out. */
import { useState, type ReactNode } from "react";
import { agentColour, AgentBadge, Icon, Lines, PathName } from "../parts/icon.tsx";
import { agentName, WORDS } from "../words.ts";
import type { DetailedPlan, PlannedFile } from "./request.ts";

const GROUPS = [
  { change: "delete", words: "Will be deleted", look: "b-del" },
  { change: "change", words: "Will change", look: "b-mod" },
  { change: "create", words: "Will come back", look: "b-add" },
  { change: "mode", words: "Will get another mode", look: "b-mod" },
] as const;

const SHOWN = 5;

/** What of a plan the list shows. */
export type ShownPlan = Pick<DetailedPlan, "id" | "files" | "leftAlone" | "kept" | "leftOut" | "gaps">;

/** What the list shows and lets choose. */
export interface PlannedFilesProps {
  readonly plan: ShownPlan;
  /** How files are called that are not there now; "Will come back" unless said otherwise. */
  readonly createdWords?: string;
  readonly without: ReadonlySet<string>;
  /** A redo and a reset are taken whole: their files cannot be left out one by one. */
  readonly isFixed: boolean;
  /** Paths that changed since the preview before this one. */
  readonly stale?: ReadonlySet<string> | undefined;
  readonly selected: string | undefined;
  onSelect(path: string): void;
  onToggle(paths: readonly string[], isIn: boolean): void;
  /** Left out where the kind of plan has no such choice. */
  onTake?(thread: string): void;
}

/** The files of a plan, in groups by what becomes of them. */
export function PlannedFiles(props: PlannedFilesProps): ReactNode {
  const { plan } = props;
  return (
    <div className="b-list">
      {GROUPS.map(({ change, words, look }) => (
        <Group
          key={change}
          {...props}
          files={plan.files.filter((file) => file.change === change)}
          words={change === "create" ? (props.createdWords ?? words) : words}
          look={look}
        />
      ))}
      {plan.leftAlone.map(({ thread, agent, files }) => (
        <section
          key={thread}
          className={agentColour(agent)}
          aria-label={`${agentName(agent)}’s work, left alone`}
        >
          <div className="b-grp b-other">
            {agent === null ? null : <AgentBadge agent={agent} />}
            {agentName(agent)}’s work, left alone <span className="b-n">{files.length}</span>
            <span className="b-grow" />
            {props.onTake === undefined ? null : (
              <button type="button" className="b-btn b-s" onClick={() => props.onTake!(thread)}>
                Take back too
              </button>
            )}
          </div>
          <Folded items={files.map(({ path }) => ({ path, reason: "" }))} />
        </section>
      ))}
      <Reasons words="Kept as it is" items={plan.kept} />
      <Reasons words="Left out" items={plan.leftOut} />
      <Reasons words="Never captured, stays as it is" items={plan.gaps} />
    </div>
  );
}

function Group(
  props: PlannedFilesProps & {
    readonly files: readonly PlannedFile[];
    readonly words: string;
    readonly look: string;
  },
): ReactNode {
  const { files, words, look, without, isFixed } = props;
  const [isWhole, setWhole] = useState(false);
  if (files.length === 0) return null;
  const shown = isWhole ? files : files.slice(0, SHOWN);
  const paths = files.map(({ path }) => path);
  const isIn = paths.some((path) => !without.has(path));
  return (
    <section aria-label={words}>
      <div className={`b-grp ${look}`}>
        {isFixed ? null : (
          <Box
            isOn={isIn}
            words={`${words}: all ${files.length}`}
            onChange={() => props.onToggle(paths, !isIn)}
          />
        )}
        {words} <span className="b-n">{files.length.toLocaleString("en")}</span>
      </div>
      {shown.map((file) => (
        <FileRow key={file.pathBase64 ?? file.path} {...props} file={file} />
      ))}
      {shown.length === files.length ? null : (
        <button type="button" className="b-more" onClick={() => setWhole(true)}>
          {WORDS.more(files.length - shown.length)}
        </button>
      )}
    </section>
  );
}

function FileRow({ file, ...props }: PlannedFilesProps & { readonly file: PlannedFile }): ReactNode {
  const { path } = file;
  const isIn = !props.without.has(path);
  return (
    <div className={path === props.selected ? "b-filerow b-on" : "b-filerow"}>
      {props.isFixed ? null : <Box isOn={isIn} words={path} onChange={() => props.onToggle([path], !isIn)} />}
      <button
        type="button"
        className="b-plain b-row b-grow"
        aria-pressed={path === props.selected}
        onClick={() => props.onSelect(path)}
      >
        <PathName path={path} />
        <span className="b-grow" />
        {props.stale?.has(path) ? <span className="b-chip b-acc">new</span> : null}
        {file.marks.map((mark) => (
          <span key={mark} className={mark === "scripts" ? "b-chip b-warn" : "b-chip b-edge"}>
            {mark === "by hand too" ? <Icon name="user" small /> : null}
            {agentMark(mark)}
          </span>
        ))}
        <Lines plus={file.plus} minus={file.minus} />
      </button>
    </div>
  );
}

/** "claude-code too" → "Claude Code too". */
function agentMark(mark: string): string {
  return mark.endsWith(" too") && mark !== "by hand too"
    ? `${agentName(mark.slice(0, -" too".length))} too`
    : mark;
}

function Reasons({
  words,
  items,
}: {
  readonly words: string;
  readonly items: readonly { path: string; reason: string }[];
}): ReactNode {
  if (items.length === 0) return null;
  return (
    <section aria-label={words}>
      <div className="b-grp b-kept">
        <Icon name="shield" small />
        {words} <span className="b-n">{items.length}</span>
      </div>
      <Folded items={items} />
    </section>
  );
}

function Folded({
  items,
}: {
  readonly items: readonly { readonly path: string; readonly reason: string }[];
}): ReactNode {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? items : items.slice(0, SHOWN);
  return (
    <>
      {shown.map(({ path, reason }) => (
        <div key={path} className="b-filerow">
          <span className="b-st b-K" aria-hidden="true">
            =
          </span>
          <PathName path={path} />
          <span className="b-grow" />
          <span className="b-why">{reason}</span>
        </div>
      ))}
      {shown.length === items.length ? null : (
        <button type="button" className="b-more" onClick={() => setWhole(true)}>
          {WORDS.more(items.length - shown.length)}
        </button>
      )}
    </>
  );
}

function Box(props: { readonly isOn: boolean; readonly words: string; onChange(): void }): ReactNode {
  return (
    <input
      type="checkbox"
      className="b-box"
      checked={props.isOn}
      aria-label={props.words}
      onChange={props.onChange}
    />
  );
}
