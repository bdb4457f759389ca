/** The lines of one file of a plan: now → after. */
import type { ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useLoaded } from "../data/loaded.ts";
import { CodeLines } from "../diff/code-lines.tsx";
import { drawnPatch, hunkText, type DiffHunk } from "../diff/patch.ts";
import { Lines, PathName } from "../parts/icon.tsx";
import { WORDS } from "../words.ts";
import type { ShownPlan } from "./planned-files.tsx";

const LOOK = { layout: "unified", wrap: false, words: true } as const;
const MOST_LINES = 400;
/** How many hunks of a longer change are shown. */
const SHOWN = 3;

/** What the lines of a plan show and let choose. */
export interface PlannedLinesProps {
  readonly plan: ShownPlan;
  readonly path: string | undefined;
  /** The chosen hunks of files that are chosen in part. */
  readonly chosen: ReadonlyMap<string, readonly number[]>;
  /** Left out where the kind of plan takes files whole. */
  onHunks?(path: string, hunks: readonly number[] | undefined): void;
}

/** The change that the plan makes to a file; single hunks of it can be left out. */
export function PlannedLines({ plan, path, chosen, onHunks }: PlannedLinesProps): ReactNode {
  const { client, workspace } = useBelay();
  const file = plan.files.find((each) => each.path === path);
  // dropped when the plan is carried out: what it was made on is gone then, and there is nothing to refuse
  const { value, error } = useLoaded(file === undefined ? null : `planned ${plan.id} ${path}`, (signal) => {
    const query = {
      workspace,
      ...(file!.pathBase64 === undefined ? { path: path! } : { pathBase64: file!.pathBase64 }),
    };
    return client.call("GET /api/plans/:id/diff", { params: { id: plan.id }, query }, signal);
  });
  if (file === undefined) return <div className="b-view" />;
  const hunks = value?.file?.path === file.path ? value.hunks : [];
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const shown = total > MOST_LINES ? hunks.slice(0, SHOWN) : hunks;
  const canChoose =
    onHunks !== undefined &&
    file.pathBase64 === undefined &&
    hunks.length > 1 &&
    value?.choices === hunks.length;
  const toggle = (index: number) => {
    const all = hunks.map((_, at) => at);
    const before = chosen.get(file.path) ?? all;
    const next = before.includes(index)
      ? before.filter((at) => at !== index)
      : [...before, index].sort((a, b) => a - b);
    onHunks?.(file.path, next.length === all.length ? undefined : next);
  };
  return (
    <div className="b-view" tabIndex={0} role="region" aria-label="The selected file, now and after">
      <div className="b-view-head">
        <PathName path={file.path} />
        <Lines plus={file.plus} minus={file.minus} />
        <span className="b-grow" />
        <span className="b-small b-muted b-nowrap">now → after</span>
      </div>
      {error === undefined ? null : <p className="b-skip">{error.message}</p>}
      {value !== undefined && hunks.length === 0 ? (
        <p className="b-skip">{file.binary ? "Binary: no lines to show." : "No lines to show."}</p>
      ) : null}
      {shown.map((hunk, index) => (
        <PlannedHunk
          key={`${hunk.oldStart} ${hunk.newStart}`}
          hunk={hunk}
          path={file.path}
          isIn={chosen.get(file.path)?.includes(index) ?? true}
          words={`Hunk ${index + 1} of ${hunks.length}`}
          {...(canChoose && { onToggle: () => toggle(index) })}
        />
      ))}
      {shown.length === hunks.length ? null : (
        <p className="b-skip">{WORDS.more(hunks.length - shown.length)} hunks</p>
      )}
    </div>
  );
}

function PlannedHunk(props: {
  readonly hunk: DiffHunk;
  readonly path: string;
  readonly words: string;
  readonly isIn: boolean;
  onToggle?(): void;
}): ReactNode {
  const { hunk, path, words, isIn, onToggle } = props;
  return (
    <div role="group" aria-label={words} className={isIn ? "" : "b-left-out"}>
      {onToggle === undefined ? null : (
        <label className="b-hunk">
          <input type="checkbox" className="b-box" checked={isIn} onChange={onToggle} />
          {words}
        </label>
      )}
      <CodeLines patch={drawnPatch(path, hunkText(hunk))} look={LOOK} />
    </div>
  );
}
