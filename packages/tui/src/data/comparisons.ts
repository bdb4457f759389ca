/** What differs between two states. Two checkpoints never change, so their answers are kept; the disk is asked again. */
import type { CallOutput } from "@belay/protocol";
import type { Source } from "./source.tsx";

/** Two states by checkpoint ids; `disk` is the files as they are now. */
export interface StatePair {
  readonly from: string;
  readonly to: string;
  /** The second state is what a plan would make of the files on disk. */
  readonly plan?: { readonly id: string; readonly files: ComparedFiles } | undefined;
}

/** The files that differ. */
export type ComparedFiles = CallOutput<"GET /api/checkpoints/:a/files/:b">;
/** One of them. */
export type ComparedFile = ComparedFiles["files"][number];
/** One file line by line. */
export type ComparedLines = CallOutput<"GET /api/checkpoints/:a/files/:b/diff">;

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

/** The files that differ between two states, with their counts. */
export function comparedFiles(source: Source, { from, to, plan }: StatePair): Promise<ComparedFiles> {
  if (plan !== undefined) return Promise.resolve(plan.files);
  return kept(source, to, `${from} ${to}`, () =>
    source.call("GET /api/checkpoints/:a/files/:b", {
      params: { a: from, b: to },
      query: { workspace: source.place.workspace },
    }),
  );
}

/** One file of two states. */
export function comparedLines(
  source: Source,
  { from, to, plan }: StatePair,
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
  return kept(source, to, JSON.stringify([from, to, name, options]), () =>
    source.call("GET /api/checkpoints/:a/files/:b/diff", {
      params: { a: from, b: to },
      query,
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
