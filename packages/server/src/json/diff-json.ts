/** Changed files and differences in the contract's shape. */
import type { BytePath, Diff, FileChange, FileDiff, ThreadId } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { ContractError } from "@belay/protocol/errors";
import { listField } from "./list-field.ts";
import { pathJson } from "./path-json.ts";

/** One changed file as the contract shows it. */
export function fileChangeJson(file: FileChange): Json<typeof shapes.fileChange> {
  return {
    ...pathJson(file.path),
    ...(file.from === undefined ? {} : fromJson(file.from)),
    type: file.type,
    linesAdded: file.linesAdded,
    linesDeleted: file.linesDeleted,
    binary: file.binary,
    tooLarge: file.tooLarge,
    ...(file.gap === undefined ? {} : { gap: file.gap }),
    ...(file.damaged && { damaged: file.damaged }),
    attribution: file.attribution,
    ...(file.diff === undefined ? {} : { diff: file.diff }),
  };
}

function fromJson(former: BytePath) {
  const { path, pathBase64 } = pathJson(former);
  return { from: path, ...(pathBase64 === undefined ? {} : { fromBase64: pathBase64 }) };
}

/** The change of one file between two states; null where there is none. */
export function fileDiffJson(
  diff: FileDiff | null,
  states: { readonly from: string; readonly to: string | null },
): Json<typeof shapes.fileDiff> {
  return { ...states, ...changedFileJson(diff) };
}

/** One file of what a row itself changed; null where it did not change the file. */
export function changedFileJson(diff: FileDiff | null): Json<typeof shapes.historyFileDiff> {
  if (diff === null) return { file: null, before: null, after: null, hunks: [], below: 0, truncated: false };
  const { file, before, after, hunks, below, truncated } = diff;
  return { file: fileChangeJson(file), before, after, hunks, below, truncated };
}

/** What differs between two states. */
export function diffJson(
  { files, ...diff }: Diff,
  agents: ReadonlyMap<ThreadId, string> = new Map(),
): Json<typeof shapes.diff> {
  return {
    from: diff.from,
    to: diff.to,
    ...listField(
      "files",
      files.map((file) => ({ ...fileChangeJson(file), ...authorsJson(file, agents) })),
    ),
    summary: diff.summary,
  };
}

/** The names of the agents behind a change, each once. */
function authorsJson({ authors }: FileChange, agents: ReadonlyMap<ThreadId, string>) {
  if (authors === undefined) return {};
  const names = authors.threads.map((thread) => agents.get(thread) ?? "http");
  return { agents: [...new Set(names)], byHand: authors.byHand };
}

/** What a row of the timeline itself changed, as the contract shows it. */
export function changesJson({
  files,
  summary,
}: Pick<Diff, "files" | "summary">): Json<typeof shapes.historyChanges> {
  return { ...listField("files", files.map(fileChangeJson)), summary };
}

/** Changed files as one patch; refused where it is longer than the limit. */
export function patchJson(files: readonly FileChange[], limit: number): Json<typeof shapes.historyPatch> {
  const parts: Buffer[] = [];
  let size = 0;
  for (const { patch } of files) {
    const part = patch?.() ?? Buffer.alloc(0);
    size += part.length;
    if (size > limit)
      throw new ContractError("FILE_TOO_LARGE", `The patch has more than ${limit} bytes. Nothing was sent.`, {
        facts: { size, limit },
      });
    parts.push(part);
  }
  return {
    patchBase64: Buffer.concat(parts).toString("base64"),
    files: files.length,
    notInPatch: files.flatMap(({ path, notInPatch, gap }) =>
      notInPatch === undefined && gap === undefined
        ? []
        : [{ ...pathJson(path), reason: notInPatch ?? String(gap) }],
    ),
  };
}
