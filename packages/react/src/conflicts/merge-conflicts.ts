/** The conflicts of a merge: every decision is kept in the store at once, and no file is touched before the rest is applied. */
import type { CallOutput } from "@belay/protocol";
import { useState } from "react";
import { useBelay } from "../data/belay.tsx";
import { useVersionUnless, type Merge } from "../data/facts.ts";
import { useLoaded, type Loaded } from "../data/loaded.ts";
import type { ConflictSource } from "./conflict-desk.tsx";
import { placeWords, sentence } from "./conflict-words.ts";
import { questionOfMerge, regionOptionsOf, takenWords } from "./merge-question.ts";
import type { Choice, ConflictQuestion, Tried } from "./question.ts";

type MergeConflict = Merge["conflicts"][number];

const HOW = {
  lines: "other lines changed",
  format: "only the layout differs",
  rename: "renamed on one side",
  lock: "a lock file, as sound as before",
  generated: "generated again",
} as const;

/** The merge, its conflicts, and what is planned when all are decided. */
export function useMergeConflicts(id: string, isApplying: boolean) {
  const { client, workspace } = useBelay();
  const version = useVersionUnless(isApplying);
  const [tries, setTries] = useState(0);
  const again = () => setTries((before) => before + 1);
  const { value, error, isLoading } = useLoaded(`merge ${id} ${version} ${tries} !`, () =>
    client.call("GET /api/merges/:id", { params: { id }, query: { workspace } }),
  );
  const merge = value?.merge;
  const isDecided = merge?.state === "open" && merge.resolution.success;
  const made = JSON.stringify(merge?.conflicts.map(({ resolution }) => resolution));
  // a merge that is loading, or being applied, may be through: then there is nothing to plan
  const asked = isDecided && !isLoading && !isApplying ? `rest ${id} ${made} ${version} ${tries} !` : null;
  const planned = useLoaded(asked, async (signal) => {
    const input = { params: { id }, query: { workspace }, body: {} };
    return { by: made, ...(await client.call("POST /api/merges/:id/continue", input, signal)) };
  });
  const resolve = (conflict: string, body: { take: string; region?: number } | { content: string }) =>
    client.call("POST /api/conflicts/:id/resolve", { params: { id: conflict }, query: { workspace }, body });
  const source: ConflictSource = {
    conflicts: (merge?.conflicts ?? []).map(entryOf),
    merged: (merge?.merged ?? []).map(({ path, severity, how }) => ({
      path,
      severity,
      about: HOW[how],
    })),
    mergedTotal: merge?.mergedTotal ?? 0,
    useQuestion: (conflict) => useMergeQuestion(conflict, `${version} ${tries}`),
    useTried: useTriedMerge,
    decide: async (conflict, choice) => {
      if ("take" in choice) await resolve(conflict, { take: choice.take });
      else if ("text" in choice) await resolve(conflict, { content: choice.text });
      else
        for (const [region, take] of Object.entries(choice.regions))
          await resolve(conflict, { take, region: Number(region) });
      again();
    },
    reopen: async (conflict) => {
      await client.call("POST /api/conflicts/:id/reopen", {
        params: { id: conflict },
        query: { workspace },
        body: {},
      });
      again();
    },
  };
  return {
    source,
    merge,
    error: error ?? planned.error,
    /** The plan with every decision; undefined until it is made. It stands while a newer one is being made. */
    ready: isDecided && planned.value?.by === made ? planned.value : undefined,
    again,
  };
}

function entryOf(conflict: MergeConflict) {
  const { id, path, severity, reason, resolution } = conflict;
  return {
    id,
    path,
    severity,
    reason,
    decided: resolution === null ? undefined : takenWords(conflict),
    isByAgent: resolution?.by === "merger" || resolution?.by === "auto",
  };
}

function useMergeQuestion(id: string | undefined, version: string): Loaded<ConflictQuestion> {
  const { client, workspace } = useBelay();
  const { value, error, isLoading } = useLoaded(id === undefined ? null : `conflict ${id} ${version} !`, () =>
    client.call("GET /api/conflicts/:id", { params: { id: id! }, query: { workspace, content: "1" } }),
  );
  if (value === undefined) return { value: undefined, error, isLoading };
  const { conflict } = value;
  const [first] = conflict.regions;
  return {
    value: {
      ...questionOfMerge(value),
      place: first === undefined ? "" : placeWords(first.ours[0] + 1, first.ours[1] - first.ours[0]),
      why: sentence(`${conflict.reason}: ${conflict.agents.join(" and ")}`),
      regionOptions: regionOptionsOf(conflict),
      chosen: chosenOf(conflict),
    },
    error,
    isLoading,
  };
}

/** What was decided, or begun, before. */
function chosenOf({ resolution, chosen, options }: MergeConflict): Choice | undefined {
  if (Object.keys(chosen).length > 0) return { regions: chosen };
  const take = resolution?.take;
  return take !== undefined && options.includes(take) ? { take } : undefined;
}

function useTriedMerge(id: string | undefined, choice: Choice | undefined): Loaded<Tried> {
  const { client, workspace } = useBelay();
  const body = choice !== undefined && "text" in choice ? { content: choice.text } : choice;
  return useLoaded(
    id === undefined || body === undefined ? null : `tried ${id} ${JSON.stringify(body)} !`,
    async () => {
      const input = { params: { id: id! }, query: { workspace }, body: body as { take?: string } };
      return triedOf(choice!, await client.call("POST /api/conflicts/:id/preview", input));
    },
  );
}

function triedOf(
  choice: Choice,
  { files, content, warnings, whole }: CallOutput<"POST /api/conflicts/:id/preview">,
): Tried {
  const [file] = files;
  return {
    choice,
    hunks: file?.hunks ?? [],
    instead: insteadOf(files),
    isWhole: whole,
    problems: warnings.map(({ detail, line }) => (line === null ? detail : `line ${line}: ${detail}`)),
    text: content?.text ?? undefined,
  };
}

/** What is said where there are no lines to compare. */
function insteadOf(files: CallOutput<"POST /api/conflicts/:id/preview">["files"]): string | undefined {
  const [file, other] = files;
  if (other !== undefined)
    return files
      .map(({ file: its, after }) => `${its?.path ?? ""} ${after === null ? "goes" : "is written"}`)
      .join(", ");
  if (file === undefined) return undefined;
  if (file.after === null) return "The file is deleted.";
  return file.hunks.length === 0 ? "The file becomes the other one; it has no lines to compare." : undefined;
}
