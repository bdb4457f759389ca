/** The branches as a tree: each below the one it began on, with what it has and lacks. */
import { ago, Icon, quantity, visible, type Branch } from "@belay/react";
import type { ReactNode } from "react";
import { MoreMenu } from "../shell/more-menu.tsx";

/** What can be done with a branch. */
export interface BranchListProps {
  readonly branches: readonly Branch[];
  onSwitch(branch: Branch): void;
  onMerge(branch: Branch): void;
  onCompare(branch: Branch): void;
  onRename(branch: Branch): void;
  onDelete(branch: Branch): void;
}

/** The branches as a tree: which began on which. */
export function BranchList(props: BranchListProps): ReactNode {
  return (
    <ul className="b-branches" aria-label="Branches">
      {inOrder(props.branches).map(({ branch, depth }) => (
        <BranchRow key={branch.name} {...props} branch={branch} depth={depth} />
      ))}
    </ul>
  );
}

interface Placed {
  readonly branch: Branch;
  readonly depth: number;
}

/** Every branch after the one it began on. */
function inOrder(branches: readonly Branch[]): Placed[] {
  const names = new Set(branches.map(({ name }) => name));
  const below = (parent: string | null, depth: number): Placed[] =>
    branches
      .filter(
        (branch) => (branch.parent !== null && names.has(branch.parent) ? branch.parent : null) === parent,
      )
      .flatMap((branch) => [{ branch, depth }, ...below(branch.name, depth + 1)]);
  return below(null, 0);
}

/** Branches that were deleted and can still be brought back. */
export function DeletedBranches(props: {
  readonly branches: readonly Branch[];
  onBringBack(name: string): void;
}): ReactNode {
  const { branches, onBringBack } = props;
  if (branches.length === 0) return null;
  return (
    <details className="b-deleted">
      <summary>{quantity(branches.length, "deleted branch", "deleted branches")}</summary>
      <ul className="b-branches" aria-label="Deleted branches">
        {branches.map((branch) => (
          <li key={branch.name} className="b-row b-branch">
            <Icon name="branch" />
            <span className="b-col b-grow">
              <span className="b-mono">{visible(branch.name)}</span>
              <span className="b-small b-muted">{factsOf(branch)}</span>
            </span>
            <button
              type="button"
              className="b-btn b-s"
              aria-label={`Bring ${visible(branch.name)} back`}
              onClick={() => onBringBack(branch.name)}
            >
              Bring back
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

const DEEPEST = 6;

function BranchRow(props: BranchListProps & Placed): ReactNode {
  const { branch, depth } = props;
  const { name, current, state, workingCopy } = branch;
  const elsewhere = !current && workingCopy !== null;
  const why = elsewhere ? `Its files are in ${visible(workingCopy)}` : undefined;
  return (
    <li className="b-row b-branch" style={{ paddingLeft: 12 + Math.min(depth, DEEPEST) * 18 }}>
      <Icon name="branch" />
      <span className="b-col b-grow">
        <span className="b-row b-gap4 b-wraps">
          <span className="b-mono b-strong">{visible(name)}</span>
          {current ? <span className="b-chip b-ok">you are here</span> : null}
          {state === "merged" ? <span className="b-chip b-edge">merged</span> : null}
          {elsewhere ? <span className="b-chip b-edge">a fork</span> : null}
        </span>
        <span className="b-small b-muted">{factsOf(branch)}</span>
      </span>
      <span className="b-row b-gap4 b-wraps">
        {current ? null : <Ways {...props} why={why} />}
        <MoreMenu
          about={visible(name)}
          items={[
            { words: "Rename…", act: () => props.onRename(branch) },
            {
              words: "Delete…",
              why: current ? "The files here are on it: switch to another branch first." : why && `${why}.`,
              act: () => props.onDelete(branch),
            },
          ]}
        />
      </span>
    </li>
  );
}

/** What brings its work here. */
function Ways(props: BranchListProps & Placed & { readonly why: string | undefined }): ReactNode {
  const { branch, why } = props;
  const name = visible(branch.name);
  return (
    <>
      <button
        type="button"
        className="b-btn b-s"
        aria-label={`Switch to ${name}…`}
        aria-disabled={why !== undefined}
        title={why}
        onClick={() => why === undefined && props.onSwitch(branch)}
      >
        Switch…
      </button>
      <button
        type="button"
        className="b-btn b-s"
        aria-label={`Compare with ${name}`}
        aria-disabled={branch.head === null}
        title={branch.head === null ? "It has no checkpoint yet" : undefined}
        onClick={() => branch.head !== null && props.onCompare(branch)}
      >
        Compare
      </button>
      <button
        type="button"
        className="b-btn b-s"
        aria-label={`Merge ${name}…`}
        onClick={() => props.onMerge(branch)}
      >
        Merge…
      </button>
    </>
  );
}

/** "2 ahead of main, 1 behind · 812 files · 3 minutes ago". */
function factsOf({ parent, ahead, behind, files, updatedAt, description }: Branch): string {
  const line =
    parent === null
      ? ""
      : `${ahead.toLocaleString("en")} ahead of ${visible(parent)}, ${behind.toLocaleString("en")} behind`;
  return [line, quantity(files, "file"), ago(updatedAt), description === null ? "" : visible(description)]
    .filter((part) => part !== "")
    .join(" · ");
}
