/** Checkpoints as Code Buddy shows them. */
import { hash } from "node:crypto";
import { join } from "node:path";
import { displayPath, type Checkpoint as Taken } from "@belay/engine";
import { bytesAt, textOf, withLazy, type Text } from "../frame/contents.ts";
import { begunThread, findThread } from "../frame/references.ts";
import type { Root } from "../frame/root.ts";

/** One file at the moment of a checkpoint. */
export interface FileSnapshot {
  /** Absolute. */
  path: string;
  content: string;
  existed: boolean;
  /** The first 16 hex digits of the content's SHA-256; "" for a file that was not there. */
  hash?: string;
  encoding?: "utf-8" | "base64";
}

/** The state of files at one moment: those that were named, or all of the workspace. */
export interface Checkpoint {
  id: string;
  timestamp: Date;
  description: string;
  files: FileSnapshot[];
  workingDirectory: string;
}

/** What going back did: absolute paths, "Deleted: <path>" for removed ones. */
export interface Rewound {
  success: boolean;
  restored: string[];
  errors: string[];
  checkpoint?: Checkpoint;
}

/** The agent under which Code Buddy is kept. */
export const AGENT = "code-buddy";
/** All managers of a directory share one conversation. */
export const THREAD = "project";
/** The namespace of the ids of checkpoints that Code Buddy itself made. */
export const ORIGIN = "code-buddy";

/** Takes one of Code Buddy's checkpoints: of the whole workspace, marked with the files that the caller named. */
export function take(root: Root, description: string, files: readonly string[] | undefined): Taken {
  const { workspace } = root;
  const thread = begunThread(workspace, AGENT, THREAD);
  const named = files === undefined ? {} : { paths: files, conversation: markOf(files) };
  const { checkpoint, warnings } = workspace.checkpoint({ kind: "manual", thread, description, ...named });
  for (const warning of warnings) root.log("warning", "checkpoint", { warning });
  return checkpoint;
}

/** The checkpoints that managers of this directory made, oldest first; none where it is not protected. */
export function listTaken(root: Root): Taken[] {
  return listManual(root).filter((taken) => versionMark(taken) === undefined);
}

/** Those that Code Buddy itself made, oldest first. */
export function listImported(root: Root): Taken[] {
  return listManual(root).filter(({ origin }) => origin === ORIGIN);
}

function listManual(root: Root): Taken[] {
  const workspace = root.known;
  const thread = workspace && findThread(workspace, AGENT, THREAD)?.id;
  if (workspace === undefined || thread === undefined) return [];
  return workspace.list({ thread, kind: "manual" }).toReversed();
}

/** Code Buddy's form of an id. */
export function idOf({ id, createdAt }: Taken): string {
  return `cp_${createdAt.toString(36)}_${id}`;
}

/** A checkpoint in Code Buddy's form. Which files it has, and what is in them, is read when it is looked at. */
export function checkpointOf(root: Root, taken: Taken): Checkpoint {
  const facts = {
    id: idOf(taken),
    timestamp: new Date(taken.createdAt),
    description: taken.description,
    workingDirectory: root.directory,
  };
  return withLazy<typeof facts, { files: FileSnapshot[] }>(facts, { files: () => filesOf(root, taken) });
}

/** The files that a checkpoint was marked with; undefined when it is one of the whole workspace. */
export function markedFiles({ conversation }: Taken): string[] | undefined {
  return marksOf(conversation)?.files;
}

/** Where a version of Code Buddy's own stood. */
export interface VersionMark {
  readonly id: string;
  readonly parentId: string | null;
  readonly branchName: string;
  readonly metadata?: Readonly<Record<string, unknown>>;
}

/** The mark of a checkpoint that was a version elsewhere. */
export function versionMark({ conversation }: Taken): VersionMark | undefined {
  return marksOf(conversation)?.version;
}

function marksOf(conversation: Taken["conversation"]) {
  const [marks] = (conversation?.artifacts ?? []) as (
    | { files?: string[]; version?: VersionMark }
    | undefined
  )[];
  return marks;
}

function markOf(files: readonly string[]) {
  return { messageCount: 0, lastMessageId: null, artifacts: [{ files }] };
}

function filesOf(root: Root, taken: Taken): FileSnapshot[] {
  const all = () =>
    [...root.workspace.files(taken.id)]
      .filter(({ kind }) => kind !== "directory")
      .map(({ path }) => displayPath(path));
  return (markedFiles(taken) ?? all()).map((path) => fileAt(root, taken, path));
}

function fileAt(root: Root, { id }: Taken, path: string): FileSnapshot {
  let read: { bytes: Buffer | null } | undefined;
  const bytes = () => (read ??= { bytes: bytesAt(root.workspace, id, path) }).bytes;
  const text = (): Text => textOf(bytes() ?? Buffer.alloc(0));
  return withLazy<{ path: string }, Required<Omit<FileSnapshot, "path">>>(
    { path: join(root.directory, path) },
    {
      content: () => text().content,
      existed: () => bytes() !== null,
      hash: () => {
        const content = bytes();
        return content === null ? "" : hash("sha256", content, "hex").slice(0, 16);
      },
      encoding: () => text().encoding,
    },
  );
}

const RULE = "─".repeat(60);

/** A list for people, or that there is none. */
export function formatList(lines: readonly string[], title: string, end: readonly string[] = []): string {
  if (lines.length === 0) return "No checkpoints available.";
  const numbered = lines.map((line, index) => `${index + 1}. ${line}`);
  return [title, RULE, ...numbered, ...(end.length === 0 ? [] : [RULE, ...end])].join("\n");
}

/** One line of a list of checkpoints, as Code Buddy writes it. */
export function formatLine({ id, description, files }: Checkpoint, time: string): string {
  const short = id.slice(id.lastIndexOf("_") + 1).slice(0, 8);
  return `[${short}] ${time} - ${description} (${files.length} file${files.length === 1 ? "" : "s"})`;
}
