/** The lines of one file of a plan: now → after. */
import { lazy, Suspense, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useLoaded } from "../data/loaded.ts";
import { hunkText } from "../diff/patch.ts";
import { Lines, PathName } from "../parts/icon.tsx";
import { WORDS } from "../words.ts";
import type { DetailedPlan } from "./request.ts";

const Code = lazy(() => import("../diff/code.tsx"));

const LOOK = { layout: "unified", wrap: false, words: true } as const;
const MOST_LINES = 400;
/** How many hunks of a longer change are shown. */
const SHOWN = 3;

/** The change that the plan makes to a file. */
export function PlannedLines({
  plan,
  path,
}: {
  readonly plan: DetailedPlan;
  readonly path: string | undefined;
}): ReactNode {
  const { client, workspace } = useBelay();
  const file = plan.files.find((each) => each.path === path);
  const { value, error } = useLoaded(file === undefined ? null : `planned ${plan.id} ${path}`, () =>
    client.call("GET /api/plans/:id/diff", {
      params: { id: plan.id },
      query: {
        workspace,
        ...(file!.pathBase64 === undefined ? { path: path! } : { pathBase64: file!.pathBase64 }),
      },
    }),
  );
  if (file === undefined) return <div className="b-view" />;
  const hunks = value?.hunks ?? [];
  const total = hunks.reduce((sum, { lines }) => sum + lines.length, 0);
  const shown = total > MOST_LINES ? hunks.slice(0, SHOWN) : hunks;
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
      <Suspense>
        {shown.map((hunk) => (
          <Code
            key={`${hunk.oldStart} ${hunk.newStart}`}
            patch={`--- a/${file.path}\n+++ b/${file.path}\n${hunkText(hunk)}\n`}
            look={LOOK}
          />
        ))}
      </Suspense>
      {shown.length === hunks.length ? null : (
        <p className="b-skip">{WORDS.more(hunks.length - shown.length)} hunks</p>
      )}
    </div>
  );
}
