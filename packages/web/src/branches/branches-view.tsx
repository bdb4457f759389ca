/** Branches, forks, runs and merges of a project: where work lies that is not in the files here. */
import {
  quantity,
  sourceNames,
  useBelay,
  useLoaded,
  useStatus,
  useThreads,
  useVersion,
  visible,
  type Branch,
} from "@belay/react";
import { useState, type KeyboardEvent, type ReactNode } from "react";
import { comparePath, conflictsPath, go, timelinePath } from "../address.ts";
import { useNeeds } from "../shell/needs.ts";
import { Shell } from "../shell/shell.tsx";
import { PAGE } from "../words.ts";
import { BranchDialog } from "./branch-dialog.tsx";
import { DeleteDialog, RenameDialog, useBringBack } from "./branch-changes.tsx";
import { BranchList, DeletedBranches } from "./branch-list.tsx";
import { ForksCard } from "./forks-card.tsx";
import { MergeDialog } from "./merge-dialog.tsx";
import { RunsCard } from "./runs-card.tsx";
import { SwitchDialog } from "./switch-dialog.tsx";

type Open =
  | { readonly kind: "new" }
  | { readonly kind: "switch" | "merge" | "rename" | "delete"; readonly branch: Branch };

/** The page's view of branches, forks and runs. */
export function BranchesView(): ReactNode {
  const { client, workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  const { value, error } = useLoaded(`branches ${workspace} ${version} !`, () =>
    client.call("GET /api/branches", { query: { workspace, deleted: "1" } }),
  );
  const bringBack = useBringBack();
  const all = value?.branches ?? [];
  const branches = all.filter(({ state }) => state !== "discarded");
  const here = branches.find(({ current }) => current)?.name ?? "main";
  const [open, setOpen] = useState<Open>();
  const close = () => setOpen(undefined);
  const onKey = ({ key, defaultPrevented }: KeyboardEvent) =>
    key === "Escape" && !defaultPrevented && go(timelinePath(workspace));
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      view="branches"
      title={PAGE.branches}
      top={
        <>
          <span className="b-strong">{PAGE.branches}</span>
          <span className="b-small b-muted b-wide">{PAGE.branchesAbout}</span>
          <span className="b-grow" />
          <button type="button" className="b-btn b-main" onClick={() => setOpen({ kind: "new" })}>
            New branch…
          </button>
        </>
      }
    >
      <main className="b-page" tabIndex={0} onKeyDown={onKey}>
        <div className="b-wrap">
          {error === undefined ? null : <p className="b-bad">{visible(error.message)}</p>}
          <Waiting workspace={workspace} />
          <section className="b-card b-in" aria-label="Branches">
            <h2>Branches</h2>
            <BranchList
              branches={branches}
              onSwitch={(branch) => setOpen({ kind: "switch", branch })}
              onMerge={(branch) => setOpen({ kind: "merge", branch })}
              onCompare={({ head }) => go(comparePath(workspace, head!, "disk"))}
              onRename={(branch) => setOpen({ kind: "rename", branch })}
              onDelete={(branch) => setOpen({ kind: "delete", branch })}
            />
            <DeletedBranches
              branches={all.filter(({ state, head }) => state === "discarded" && head !== null)}
              onBringBack={bringBack}
            />
          </section>
          <ForksCard version={version} />
          <RunsCard version={version} />
        </div>
      </main>
      {open === undefined ? null : <OpenDialog open={open} here={here} onClose={close} />}
    </Shell>
  );
}

/** The dialog that is open. */
function OpenDialog(props: { readonly open: Open; readonly here: string; onClose(): void }): ReactNode {
  const { open, here, onClose } = props;
  if (open.kind === "new") return <BranchDialog onClose={onClose} />;
  const { branch } = open;
  if (open.kind === "rename") return <RenameDialog branch={branch} onClose={onClose} />;
  if (open.kind === "delete") return <DeleteDialog branch={branch} onClose={onClose} />;
  return open.kind === "switch" ? (
    <SwitchDialog branch={branch} from={here} onClose={onClose} />
  ) : (
    <MergeDialog branch={branch} into={here} onClose={onClose} />
  );
}

/** Merges that wait for decisions, or to be applied. */
function Waiting({ workspace }: { readonly workspace: string }): ReactNode {
  const { merges } = useNeeds();
  if (merges.length === 0) return null;
  return (
    <section className="b-card b-in" aria-label="Merges that wait for you">
      <h2>Merges that wait for you</h2>
      <ul className="b-branches">
        {merges.map((merge) => (
          <li key={merge.id} className="b-row b-branch">
            <span className="b-grow">
              {sourceNames(merge)} into {visible(merge.into)}:{" "}
              {quantity(merge.conflicts.filter(({ state }) => state === "open").length, "conflict")} open
            </span>
            <button
              type="button"
              className="b-btn b-s"
              aria-label={`Decide the merge of ${sourceNames(merge)}…`}
              onClick={() => go(conflictsPath(workspace, merge.id))}
            >
              Decide…
            </button>
          </li>
        ))}
      </ul>
    </section>
  );
}
