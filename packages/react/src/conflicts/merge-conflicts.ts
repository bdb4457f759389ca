/** The conflicts of a merge: every decision is kept in the store at once, and no file is touched before the rest is applied. */
import type { CallOutput } from "@belay/protocol";
import { useRef, useState } from "react";
import { useBelay } from "../data/belay.tsx";
import { useVersionUnless, type Merge } from "../data/facts.ts";
import { useLoaded, type Loaded } from "../data/loaded.ts";
import type { ConflictSource } from "./conflict-desk.tsx";
import { placeWords, sentence } from "./conflict-words.ts";
import { questionOfMerge, regionOptionsOf, takenWords } from "./merge-question.ts";
import type { Choice, ConflictEntry, ConflictQuestion, Tried } from "./question.ts";

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
  // [R1930] what was merged by itself is a conflict from when it is looked at
  const taken = useRef(new Map<string, string>()).current;
  const idOf = (entry: string) => taken.get(entry) ?? entry;
  const source: ConflictSource = {
    conflicts: entriesOf(merge),
    useQuestion: (entry) => useMergeQuestion(entry, { version: `${version} ${tries}`, merge, taken }),
    useTried: (entry, choice) => useTriedMerge(entry && idOf(entry), choice),
    decide: async (entry, choice) => {
      const conflict = idOf(entry);
      if ("take" in choice) await resolve(conflict, { take: choice.take });
      else if ("text" in choice) await resolve(conflict, { content: choice.text });
      else
        for (const [region, take] of Object.entries(choice.regions))
          await resolve(conflict, { take, region: Number(region) });
      again();
    },
    reopen: async (entry) => {
      await client.call("POST /api/conflicts/:id/reopen", {
        params: { id: idOf(entry) },
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

/** What is to be decided, and what comes in by itself; several sources may have combined one path. */
function entriesOf(merge: Merge | undefined): ConflictEntry[] {
  const conflicts = merge?.conflicts ?? [];
  const clean = new Map((merge?.clean ?? []).map((each) => [each.path, each]));
  const own = conflicts.map((conflict) => entryOf(conflict, clean.get(conflict.path)));
  for (const { path } of conflicts) clean.delete(path);
  return [...own, ...[...clean.values()].map(cleanEntry)];
}

function entryOf(conflict: MergeConflict, clean: Clean | undefined): ConflictEntry {
  const { id, path, severity, reason, resolution } = conflict;
  const by = resolution?.by;
  return {
    id: clean === undefined ? id : cleanId(clean),
    path,
    severity,
    reason,
    decided: resolution === null ? undefined : clean && by === "auto" ? HOW[clean.how] : takenWords(conflict),
    group: by === "merger" ? "agent" : by === "auto" || (clean && by === "user") ? "lines" : "yours",
  };
}

type Clean = Merge["clean"][number];

function cleanEntry(clean: Clean): ConflictEntry {
  const { path, severity, how } = clean;
  return { id: cleanId(clean), path, severity, reason: HOW[how], decided: HOW[how], group: "lines" };
}

/** The same before and after it is taken up, so that what lies on the desk stays there. */
function cleanId({ path }: Pick<Clean, "path">): string {
  return `clean ${path}`;
}

interface AskedMerge {
  readonly version: string;
  readonly merge: Merge | undefined;
  /** The conflicts of what was taken up, by entry. */
  readonly taken: Map<string, string>;
}

function useMergeQuestion(
  entry: string | undefined,
  { version, merge, taken }: AskedMerge,
): Loaded<ConflictQuestion> {
  const { client, workspace } = useBelay();
  const clean = merge?.clean.find((each) => cleanId(each) === entry);
  const { value, error, isLoading } = useLoaded(
    entry === undefined ? null : `conflict ${merge?.id} ${entry} ${version} !`,
    async () => {
      const query = { workspace };
      if (clean !== undefined) {
        const { path, pathBase64 } = clean;
        const body = pathBase64 === undefined ? { path } : { pathBase64 };
        const input = { params: { id: merge!.id }, query, body };
        const { conflict } = await client.call("POST /api/merges/:id/conflicts", input);
        taken.set(entry!, conflict.id);
      }
      const params = { id: taken.get(entry!) ?? entry! };
      const asked = { params, query: { ...query, content: "1" as const } };
      const details = await client.call("GET /api/conflicts/:id", asked);
      return { ...details, entry: entry!, isClean: clean !== undefined };
    },
  );
  if (value === undefined) return { value: undefined, error, isLoading };
  const { conflict } = value;
  const [first] = conflict.regions;
  return {
    value: {
      ...questionOfMerge(value, value.isClean),
      // the answer about another entry stands until this one is here
      id: value.entry,
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
  { files, content, warnings, whole, parses }: CallOutput<"POST /api/conflicts/:id/preview">,
): Tried {
  const [file] = files;
  return {
    choice,
    hunks: file?.hunks ?? [],
    instead: insteadOf(files),
    isWhole: whole,
    problems: warnings.map(({ detail, line }) => (line === null ? detail : `line ${line}: ${detail}`)),
    parses,
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
