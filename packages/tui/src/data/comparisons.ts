/**
 * What differs between two states, and what a row itself changed. Two checkpoints never change, so their answers are kept;
 * the disk, and a turn that works on, are asked again.
 */
import type { CallOutput } from "@belay/protocol";
import type { Source } from "./source.tsx";

/** Two states by checkpoint ids; `disk` is the files as they are now. */
export interface StatePair {
  readonly from: string;
  readonly to: string;
  /** The second state is what a plan would make of the files on disk. */
  readonly plan?: { readonly id: string; readonly files: ComparedFiles } | undefined;
  /**
   * What this row, or this step of it, itself changed between the two: agents that worked at the same time changed more.
   */
  readonly own?: OwnChange | undefined;
  /** Of the files that differ, only these: others are another thread's business. */
  readonly only?: ReadonlySet<string> | undefined;
}

/** A row by its ref, and the seq of one of its steps. */
export interface OwnChange {
  readonly ref: string;
  readonly step?: number | undefined;
}

/** The files that differ. */
export type ComparedFiles = CallOutput<"GET /api/history/:seq/changes">;
/** One of them. */
export type ComparedFile = ComparedFiles["files"][number];
/** One file line by line. */
export type ComparedLines = CallOutput<"GET /api/history/:seq/changes/diff">;

/** How a file is compared. */
export interface CompareOptions {
  readonly whitespace?: "exact" | "ignore";
  readonly context?: number;
  /** Also what is long. */
  readonly large?: boolean;
}

/** What the files on disk are called in a pair. */
export const DISK = "disk";
const KEPT = 200;
const comparisons = new WeakMap<Source, Map<string, Promise<unknown>>>();

/** The files that differ between two states, with their counts unless only names are wanted. */
export async function loadComparedFiles(
  source: Source,
  pair: StatePair,
  detail?: "names",
): Promise<ComparedFiles> {
  const { only } = pair;
  const all = await allComparedFiles(source, pair, detail);
  if (only === undefined) return all;
  const files = all.files.filter(({ path }) => only.has(path));
  return { ...all, files, filesTotal: files.length };
}

function allComparedFiles(source: Source, pair: StatePair, detail?: "names"): Promise<ComparedFiles> {
  const { from, to, plan, own } = pair;
  if (plan !== undefined) return Promise.resolve(plan.files);
  const query = { workspace: source.place.workspace, ...(detail && { detail }) };
  return kept<ComparedFiles>(source, to, JSON.stringify([from, to, own, detail]), () =>
    own === undefined
      ? source.call("GET /api/checkpoints/:a/files/:b", { params: { a: from, b: to }, query })
      : source.call("GET /api/history/:seq/changes", {
          params: { seq: own.ref },
          query: { ...query, ...stepOf(own) },
        }),
  );
}

function stepOf({ step }: OwnChange): { step?: number } {
  return step === undefined ? {} : { step };
}

/** One file of two states, compared line by line. */
export function loadComparedLines(
  source: Source,
  { from, to, plan, own }: StatePair,
  file: Pick<ComparedFile, "path" | "pathBase64">,
  options: CompareOptions = {},
): Promise<ComparedLines> {
  const name = file.pathBase64 === undefined ? { path: file.path } : { pathBase64: file.pathBase64 };
  const { large, ...rest } = options;
  const query = {
    workspace: source.place.workspace,
    ...name,
    ...rest,
    ...(large === true && { large: "1" as const }),
  };
  if (plan !== undefined) return source.call("GET /api/plans/:id/diff", { params: { id: plan.id }, query });
  return kept<ComparedLines>(source, to, JSON.stringify([from, to, own, name, options]), () =>
    own === undefined
      ? source.call("GET /api/checkpoints/:a/files/:b/diff", { params: { a: from, b: to }, query })
      : source.call("GET /api/history/:seq/changes/diff", {
          params: { seq: own.ref },
          query: { ...query, ...stepOf(own) },
        }),
  );
}

function kept<Answer>(source: Source, to: string, key: string, ask: () => Promise<Answer>): Promise<Answer> {
  if (to === DISK) return ask();
  const answers = comparisons.get(source) ?? new Map<string, Promise<unknown>>();
  comparisons.set(source, answers);
  const known = answers.get(key) as Promise<Answer> | undefined;
  if (known !== undefined) return known;
  const answer = ask();
  answers.set(key, answer);
  answer.catch(() => answers.delete(key));
  if (answers.size > KEPT) answers.delete(answers.keys().next().value!);
  return answer;
}
