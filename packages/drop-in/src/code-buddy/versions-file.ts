/**
 * The file in which Code Buddy keeps versions. Belay writes it for tools that read it, without contents. One that Code Buddy itself
 * wrote has the only copy of its versions: it is taken over into the store, and is set aside before ours takes its place.
 */
import { hash } from "node:crypto";
import { existsSync, lstatSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import {
  pathFromBytes,
  whyNotImported,
  type BytePath,
  type Checkpoint as Taken,
  type ImportedFile,
  type ImportRequest,
  type ThreadId,
  type Version as Kept,
} from "@belay/engine";
import { begunThread } from "../frame/references.ts";
import type { Root } from "../frame/root.ts";
import { AGENT, listImported, ORIGIN, THREAD, versionMark, type VersionMark } from "./checkpoint.ts";

/** What the file holds: pairs, as maps are written. */
export interface VersionsState {
  readonly versions: readonly unknown[];
  readonly branches: readonly unknown[];
  readonly tags: readonly unknown[];
  readonly currentBranch: string;
}

/** Who wrote a file: by this field ours is told from Code Buddy's. */
const SAVED_BY = "belay";

/** Writes the file. One that is not ours is taken over first, as far as it can be read, and stays beside ours. */
export function writeVersions(root: Root, file: string, state: () => VersionsState): void {
  if (existsSync(file) && !isOurs(file)) {
    try {
      takeOver(root, file);
    } catch (error) {
      root.log("warning", "versions_not_read", { file, reason: String(error) });
    }
    renameSync(file, freeName(file));
  }
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `${JSON.stringify({ savedBy: SAVED_BY, ...state() }, null, 2)}\n`);
}

/** Takes over the versions of a file that Code Buddy wrote; those that are there stay. Returns its present branch. */
export function takeOver(root: Root, file: string): string | undefined {
  const { savedBy, versions, tags, currentBranch } = recordOf(JSON.parse(readFileSync(file, "utf8")));
  if (savedBy === SAVED_BY) return undefined;
  const found = listOf(versions).map((pair) => recordOf(listOf(pair)[1]));
  if (found.length === 0) return undefined;
  const { workspace } = root;
  const thread = begunThread(workspace, AGENT, THREAD);
  const own = new Set(workspace.versions.list().map(({ id }) => id));
  const marks = new Map(listOf(tags).map((pair) => [String(listOf(pair)[0]), listOf(pair)[1]] as const));
  const requests = found
    .filter(({ id }) => typeof id === "string" && id !== "" && !own.has(id))
    .map((version) => requestOf(root, version, { thread, marks }));
  for (const { tag, reason } of workspace.importCheckpoints(requests).leftOut)
    root.log("warning", "version_tag_left_out", { tag, reason });
  return typeof currentBranch === "string" ? currentBranch : undefined;
}

/** The versions that were taken over, oldest first, in the form of the engine's. A parent is one that came before. */
export function takenOver(root: Root): Kept[] {
  const seen = new Set<string | null>();
  return listImported(root).flatMap((taken) => {
    const mark = versionMark(taken);
    if (mark === undefined) return [];
    seen.add(mark.id);
    const isKnown = mark.parentId !== mark.id && seen.has(mark.parentId);
    return [keptOf(taken, { ...mark, parentId: isKnown ? mark.parentId : null })];
  });
}

function keptOf({ id, name, description, createdAt }: Taken, mark: VersionMark): Kept {
  const { tags, custom, ...rest } = mark.metadata ?? {};
  return {
    id: mark.id,
    checkpoint: id,
    branch: mark.branchName,
    parent: mark.parentId,
    name,
    description,
    metadata: { ...rest, tags: listOf(tags), custom: recordOf(custom) },
    createdAt,
  };
}

function isOurs(file: string): boolean {
  try {
    return recordOf(JSON.parse(readFileSync(file, "utf8")))["savedBy"] === SAVED_BY;
  } catch {
    return false;
  }
}

/** What is set aside takes the place of nothing. */
function freeName(file: string): string {
  let name = `${file}.original`;
  for (let number = 2; existsSync(name); number += 1) name = `${file}.original-${number}`;
  return name;
}

type Facts = Readonly<Record<string, unknown>>;

function requestOf(
  root: Root,
  version: Facts,
  { thread, marks }: { thread: ThreadId; marks: ReadonlyMap<string, unknown> },
): ImportRequest {
  const id = String(version["id"]);
  const checkpoint = recordOf(version["checkpoint"]);
  const [name, parentId, branch] = [version["name"], version["parentId"], version["branchName"]].map(textOf);
  const files = listOf(checkpoint["files"])
    .map(recordOf)
    .flatMap((facts) => {
      const path = pathOf(root, facts["path"], checkpoint["workingDirectory"]);
      if (path === undefined)
        root.log("warning", "version_file_left_out", { version: id, path: facts["path"] });
      return path === undefined ? [] : [{ path, facts }];
    });
  const mark: VersionMark = {
    id,
    parentId: parentId ?? null,
    branchName: branch ?? "main",
    metadata: recordOf(version["metadata"]),
  };
  const names = files.map(({ path }) => Buffer.from(path, "latin1").toString("utf8"));
  return {
    origin: ORIGIN,
    alias: id,
    thread,
    kind: "manual",
    description: textOf(version["description"]) ?? textOf(checkpoint["description"]) ?? id,
    createdAt: timeOf(version["createdAt"]),
    tags: [...marks].flatMap(([tag, of]) => (of === id ? [tag] : [])),
    ...(name !== undefined && { name }),
    ...(parentId !== undefined && { parent: { alias: parentId } }),
    conversation: { messageCount: 0, lastMessageId: null, artifacts: [{ files: names, version: mark }] },
    files: files.flatMap(({ path, facts }) => fileOf(root, path, { id, facts }) ?? []),
    covers: files.map(({ path }) => path),
  };
}

/** A file of a version. One that was not kept whole is a gap, which a checkout never touches. */
function fileOf(
  root: Root,
  path: BytePath,
  { id, facts }: { id: string; facts: Facts },
): ImportedFile | undefined {
  const { content, existed, hash: named, encoding } = facts;
  if (existed === false) return undefined;
  const isBase64 = encoding === "base64";
  const bytes = typeof content === "string" ? Buffer.from(content, isBase64 ? "base64" : "utf8") : undefined;
  const isWhole =
    bytes !== undefined &&
    (isBase64 || !String(content).includes("\uFFFD")) &&
    (typeof named !== "string" ||
      !/^[0-9a-f]{16,64}$/.test(named) ||
      hash("sha256", bytes, "hex").startsWith(named));
  if (isWhole) return { path, kind: "file", mode: modeNow(root, path), content: bytes };
  root.log("warning", "version_file_lost", { version: id, path });
  return { path, kind: "gap", reason: "unreadable", size: bytes?.length ?? 0 };
}

const ORDINARY = 0o644;

/** Code Buddy kept no modes. */
function modeNow(root: Root, path: BytePath): number {
  const place = Buffer.concat([Buffer.from(`${root.directory}/`), Buffer.from(path, "latin1")]);
  const stat = lstatSync(place, { throwIfNoEntry: false });
  return stat?.isFile() === true ? stat.mode & 0o777 : ORDINARY;
}

/** The project may have been elsewhere. */
function pathOf(root: Root, path: unknown, workingDirectory: unknown): BytePath | undefined {
  if (typeof path !== "string") return undefined;
  const before = typeof workingDirectory === "string" ? workingDirectory : root.directory;
  const below = [root.directory, before].find((directory) => path.startsWith(`${directory}/`));
  const inside = below === undefined ? path : relative(below, path);
  const bytes = pathFromBytes(Buffer.from(inside));
  return inside.startsWith("/") || whyNotImported(bytes) !== undefined ? undefined : bytes;
}

function timeOf(value: unknown): number {
  const time = typeof value === "string" ? Date.parse(value) : Number.NaN;
  return Number.isNaN(time) ? 0 : time;
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

function recordOf(value: unknown): Facts {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Facts) : {};
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

/** Where the file is. */
export function versionsFile(root: Root, storageDir: string): string {
  return join(root.directory, storageDir, "versions.json");
}
