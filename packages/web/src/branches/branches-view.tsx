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
import { BranchList } from "./branch-list.tsx";
import { ForksCard } from "./forks-card.tsx";
import { MergeDialog } from "./merge-dialog.tsx";
import { RunsCard } from "./runs-card.tsx";
import { SwitchDialog } from "./switch-dialog.tsx";

type Open = { readonly kind: "new" } | { readonly kind: "switch" | "merge"; readonly branch: Branch };

/** The view. */
export function BranchesView(): ReactNode {
  const { client, workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  const { value, error } = useLoaded(`branches ${workspace} ${version} !`, () =>
    client.call("GET /api/branches", { query: { workspace } }),
  );
  const branches = value?.branches ?? [];
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
      working={[]}
      thread={undefined}
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
            />
          </section>
          <ForksCard version={version} />
          <RunsCard version={version} />
        </div>
      </main>
      {open === undefined ? null : open.kind === "new" ? (
        <BranchDialog onClose={close} />
      ) : open.kind === "switch" ? (
        <SwitchDialog branch={open.branch} from={here} onClose={close} />
      ) : (
        <MergeDialog branch={open.branch} into={here} onClose={close} />
      )}
    </Shell>
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
