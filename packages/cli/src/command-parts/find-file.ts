/** Finds a file in a checkpoint; where it is not there, says what the user may have meant. */
import { displayPath, pathFromBytes, type BytePath, type Checkpoint, type Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { nearest } from "../call/nearest.ts";
import { visibleLine } from "@belay/tui/text";

/** A file of a checkpoint and its content. */
export interface FoundFile {
  readonly path: BytePath;
  readonly kind: "file" | "symlink";
  readonly mode: number;
  readonly size: number;
  readonly hash: string | null;
  readonly content: Buffer;
}

/** The file at a path relative to the root; throws `PATH_NOT_IN_CHECKPOINT` with the names that come close. */
export async function findFile(
  workspace: Workspace,
  checkpoint: Checkpoint,
  given: string,
): Promise<FoundFile> {
  const path = pathFromBytes(Buffer.from(given, "utf8"));
  const file = await workspace.file(checkpoint.id, path, Number.POSITIVE_INFINITY);
  if (file !== null && file.content !== null) return { path, ...file, content: file.content };
  throw await notThere(workspace, checkpoint, given);
}

async function notThere(workspace: Workspace, checkpoint: Checkpoint, given: string): Promise<ContractError> {
  const known: string[] = [];
  let isDirectory = given === "";
  for await (const { path, kind } of workspace.files(checkpoint.id)) {
    const text = displayPath(path);
    if (kind === "directory") isDirectory ||= text === given;
    else known.push(text);
  }
  const where = `in checkpoint ${checkpoint.seq}`;
  const shown = given === "" ? "." : visibleLine(given);
  if (isDirectory)
    return error(given, checkpoint, {
      message: `${shown} is a directory ${where}.`,
      hint: `\`belay files ${checkpoint.seq} ${shown}\` lists what is in it.`,
    });
  return error(given, checkpoint, {
    message: `There is no file ${shown} ${where}.`,
    ...(await hintFor(workspace, given, known)),
  });
}

async function hintFor(
  workspace: Workspace,
  given: string,
  known: readonly string[],
): Promise<{ hint?: string }> {
  const holder = await lastHolder(workspace, given);
  if (holder !== undefined)
    return {
      hint: `Checkpoint ${holder.seq} is the last that has it: \`belay cat ${holder.seq} ${given}\`.`,
    };
  const name = given.slice(given.lastIndexOf("/") + 1);
  const elsewhere = known.filter((path) => path === name || path.endsWith(`/${name}`)).slice(0, SUGGESTED);
  const close = nearest(given, known);
  const meant = elsewhere.length > 0 ? elsewhere : close === undefined ? [] : [close];
  return meant.length === 0 ? {} : { hint: `Did you mean ${meant.map(visibleLine).join(" or ")}?` };
}

const SUGGESTED = 3;
const EXAMINED = 20;

/** The newest checkpoint that has a file: one that changed it, or the one before the deletion. */
async function lastHolder(workspace: Workspace, given: string): Promise<Checkpoint | undefined> {
  const path = pathFromBytes(Buffer.from(given, "utf8"));
  const has = async (ref: string) => (await workspace.file(ref, path, 0)) !== null;
  for (const checkpoint of await workspace.list({ search: given, limit: EXAMINED })) {
    for (const ref of [checkpoint.id, ...checkpoint.parents.slice(0, 1)])
      if (await has(ref)) return workspace.resolve(ref);
  }
  return undefined;
}

function error(
  path: string,
  checkpoint: Checkpoint,
  { message, hint }: { message: string; hint?: string },
): ContractError {
  const facts = { path, checkpoint: checkpoint.id };
  return new ContractError("PATH_NOT_IN_CHECKPOINT", message, { facts, ...(hint && { hint }) });
}
