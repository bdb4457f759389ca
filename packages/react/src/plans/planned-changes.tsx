/** What a plan would change, file by file, where nothing of it can be left out: a switch, a merge, decided conflicts. */
import type { CallOutput } from "@belay/protocol";
import { useState, type ReactNode } from "react";
import { PlannedFiles, type ShownPlan } from "./planned-files.tsx";
import { PlannedLines } from "./planned-lines.tsx";

type PlainPlan = CallOutput<"POST /api/merges">["plan"];

const CHANGES = {
  create: "create",
  restore: "change",
  replace: "change",
  delete: "delete",
  mode: "mode",
} as const;

/** A plan without details, as the lists show one; directories come and go with their files. */
export function shownPlan({ id, operations, kept, leftOut, gaps }: PlainPlan): ShownPlan {
  const files = operations.map(({ type, path, pathBase64 }) => ({
    path,
    ...(pathBase64 !== undefined && { pathBase64 }),
    change: CHANGES[type],
    plus: null,
    minus: null,
    binary: false,
    reasons: [],
    marks: [],
    threads: [],
  }));
  return { id, files, leftAlone: [], kept, leftOut, gaps };
}

/** The files at the left, the lines of one of them at the right. */
export function PlannedChanges({
  plan,
  createdWords,
}: {
  readonly plan: ShownPlan;
  /** How files are called that are not there now; "Will come back" unless said otherwise. */
  readonly createdWords?: string;
}): ReactNode {
  const [selected, setSelected] = useState<string>();
  const path = selected ?? plan.files[0]?.path;
  return (
    <div className="b-split">
      <PlannedFiles
        plan={plan}
        without={NONE}
        isFixed
        selected={path}
        onSelect={setSelected}
        onToggle={() => undefined}
        {...(createdWords !== undefined && { createdWords })}
      />
      <PlannedLines plan={plan} path={path} chosen={NO_HUNKS} />
    </div>
  );
}

const NONE: ReadonlySet<string> = new Set();
const NO_HUNKS: ReadonlyMap<string, readonly number[]> = new Map();
