/** The ways back from a diff: one file, or one hunk of it, to the older of its two states. */
import { changedLines, visible, type DiffViewProps, type PlanRequest, type Target } from "@belay/react";

type Actions = NonNullable<DiffViewProps["actions"]>;

/** The buttons of a diff whose older side is `target`. */
export function diffActions(to: {
  readonly target: Pick<Target, "checkpoint" | "name"> & Partial<Pick<Target, "at">>;
  /** "Undo" where the diff is what a turn did. */
  readonly verb: "Restore" | "Undo";
  /** False where the lines of the older side are not those of `target`. */
  readonly hasHunks?: boolean;
  onPlan(request: PlanRequest): void;
}): Actions {
  const { target, verb, hasHunks = true, onPlan } = to;
  const request = (path: string): Omit<PlanRequest, "paths"> => ({
    kind: "restore",
    target: target.checkpoint,
    name: `${target.name}: ${visible(path)}`,
    ...(target.at !== undefined && { at: target.at }),
  });
  const hunks: Pick<Actions, "hunkWords" | "onHunk"> = {
    hunkWords: `${verb} this hunk…`,
    onHunk: ({ path }, hunk) => onPlan({ ...request(path), paths: [path], lines: changedLines(hunk) }),
  };
  return {
    fileWords: `${verb} this file…`,
    // a renamed file comes back under its old name and goes from its new one
    onFile: ({ path, from }) =>
      onPlan({ ...request(path), paths: from === undefined ? [path] : [from, path] }),
    ...(hasHunks && hunks),
  };
}
