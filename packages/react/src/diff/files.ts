/** The files that differ between two states, and one file line by line. */
import type { CallOutput } from "@belay/protocol";
import { useBelay, type Belay } from "../data/belay.tsx";
import { loadOnce, useLoaded, type Loaded } from "../data/loaded.ts";
import { patchText, type FileDiffAnswer } from "./patch.ts";

/** Two states; `to` may be "disk". */
export interface Pair {
  readonly from: string;
  readonly to: string;
  /** Changes when the disk may have changed: then it is looked at again. */
  readonly version?: string | number;
  /** Only what this row, or one step of it, changed itself: where agents overlap, the states differ in more. */
  readonly own?: Own | undefined;
}

/** A row of the history, or one step of it. */
export interface Own {
  readonly row: string;
  readonly step?: number;
  /** Changes when more of its work has come in. */
  readonly counts: string;
}

/** What differs between two states, or what a row changed. */
export type Comparison = Pick<
  CallOutput<"GET /api/checkpoints/:a/files/:b">,
  "files" | "filesTotal" | "summary"
>;
/** A changed file, as lists of files show it. */
export type ChangedFile = Comparison["files"][number];

/** How a file's lines are compared. */
export interface LineOptions {
  readonly context: number;
  readonly whitespace: "exact" | "ignore";
  readonly large: boolean;
}

/** Which files differ; null asks for nothing. */
export function useDiff(pair: Pair | null): Loaded<Comparison> {
  const { client, workspace } = useBelay();
  const name = pair === null ? null : `files ${workspace} ${nameOf(pair)}`;
  return useLoaded<Comparison>(name, () => {
    const { from, to, own } = pair!;
    return own === undefined
      ? client.call("GET /api/checkpoints/:a/files/:b", { params: { a: from, b: to }, query: { workspace } })
      : client.call("GET /api/history/:seq/changes", {
          params: { seq: own.row },
          query: { workspace, detail: "counts", ...stepQuery(own) },
        });
  });
}

function stepQuery({ step }: Own): { step?: number } {
  return step === undefined ? {} : { step };
}

/** One file of two states, and how its lines are compared. */
interface FileQuestion {
  readonly pair: Pair;
  readonly file: ChangedFile;
  readonly options: LineOptions;
}

/** The lines of one file; null asks for nothing. */
export function useFileDiff(
  pair: Pair,
  file: ChangedFile | null,
  options: LineOptions,
): Loaded<FileDiffAnswer> {
  const belay = useBelay();
  const question = file && { pair, file, options };
  return useLoaded(question && diffName(belay, question), () => askFileDiff(belay, question!));
}

/** The lines of one file, as `useFileDiff` has them. */
export function loadFileDiff(belay: Belay, question: FileQuestion): Promise<FileDiffAnswer> {
  return loadOnce(diffName(belay, question), () => askFileDiff(belay, question));
}

/** The change of all files as one patch that `git apply` takes. */
export async function patchOf(belay: Belay, pair: Pair, files: readonly ChangedFile[]): Promise<string> {
  const patches: string[] = [];
  for (const file of files) {
    const options = { context: 3, whitespace: "exact", large: true } as const;
    patches.push(patchText(await loadFileDiff(belay, { pair, file, options })));
  }
  return patches.join("");
}

function diffName({ workspace }: Belay, { pair, file, options }: FileQuestion): string {
  const { context, whitespace, large } = options;
  return `diff ${workspace} ${file.pathBase64 ?? file.path} ${context} ${whitespace} ${large} ${nameOf(pair)}`;
}

async function askFileDiff(belay: Belay, { pair, file, options }: FileQuestion): Promise<FileDiffAnswer> {
  const { client, workspace } = belay;
  const { context, whitespace, large } = options;
  const { from, to, own } = pair;
  const query = {
    workspace,
    ...pathQuery(file),
    context: String(context),
    whitespace,
    ...(large && { large: "1" as const }),
  };
  if (own === undefined)
    return client.call("GET /api/checkpoints/:a/files/:b/diff", { params: { a: from, b: to }, query });
  const answer = await client.call("GET /api/history/:seq/changes/diff", {
    params: { seq: own.row },
    query: { ...query, ...stepQuery(own) },
  });
  return { ...answer, from, to };
}

/** The address of a file's bytes at a state. */
export function blobPath(workspace: string, state: string, file: ChangedFile): string {
  const query = new URLSearchParams({ workspace, ...(pathQuery(file) as Record<string, string>) });
  return `/api/checkpoints/${encodeURIComponent(state)}/blob?${query}`;
}

/** A path as routes take it: its text, or its exact bytes. */
function pathQuery({ path, pathBase64 }: ChangedFile): { path: string } | { pathBase64: string } {
  return pathBase64 === undefined ? { path } : { pathBase64 };
}

/** The disk changes, so what it was compared with is asked again with each version. */
function nameOf({ from, to, version = "", own }: Pair): string {
  if (own !== undefined) return `${from} ${to} ${own.row} ${own.step} ${own.counts}`;
  return to === "disk" ? `${from} disk ${version} !` : `${from} ${to}`;
}
