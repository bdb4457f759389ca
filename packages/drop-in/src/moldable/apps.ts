/** Which directory an app lives in, and which conversation is which thread. */
import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { CHECKPOINT_PRESETS, protectedRoots, RETENTION_PRESETS, type RetentionPolicy } from "@belay/engine";
import { findWorkspaceSync, type SyncWorkspace } from "@belay/engine/sync";
import { chosen } from "../frame/options.ts";
import { Root } from "../frame/root.ts";

/** What a host may choose. */
export interface MoldableOptions {
  workspaceId?: string;
  resolveAppDir?: (appId: string) => string;
  /** Leave out pictures, fonts, sound, video, archives, programs, documents and databases. */
  sourceOnly?: boolean;
  /** Larger files, and more than so many new bytes at once, are not captured; they are reported and never touched. */
  limits?: { fileBytes?: number; checkpointBytes?: number };
}

/** The agent under which conversations are kept. */
export const AGENT = "moldable";

/** Longer ids are refused. */
const LONGEST_ID = 500;

let options: MoldableOptions = {};
const directories = new Map<string, string>();

/** Sets what all commands go by from now on; `sourceOnly` and `limits` for apps that this process has not used yet. */
export function configureMoldable(choice: MoldableOptions): void {
  options = { ...choice };
  directories.clear();
}

/** The app of an id, in the directory that is given or known. */
export function appRoot(appId: string, directory = directoryOf(appId)): Root {
  assertId("app", appId);
  directories.set(appId, directory);
  return new Root(
    directory,
    { nested: true },
    { policy: CHECKPOINT_PRESETS.message, retention: retention(), ignore: leftOut() },
  );
}

/** What a conversation is called as a thread. */
export function threadName(appId: string, conversationId: string): string {
  assertId("app", appId);
  assertId("conversation", conversationId);
  return `${prefixOf(appId)}${conversationId}`;
}

/** How the names of an app's threads begin. */
export function prefixOf(appId: string): string {
  return `${options.workspaceId ?? "personal"}/${appId}/`;
}

function retention(): RetentionPolicy {
  const preset = RETENTION_PRESETS["moldable"]!;
  return { ...preset, ...options.limits };
}

/** What the preset "source only" leaves out, by extension, in capitals too. */
const NO_SOURCE =
  "png jpg jpeg gif webp ico svg woff woff2 ttf eot otf mp3 mp4 wav ogg webm zip tar gz rar 7z exe dll so dylib pdf doc docx db sqlite sqlite3";

function leftOut(): string[] {
  return options.sourceOnly === true
    ? NO_SOURCE.split(" ").map((extension) => `*.${eitherCase(extension)}`)
    : [];
}

function eitherCase(extension: string): string {
  return extension.replaceAll(/[a-z]/g, (letter) => `[${letter}${letter.toUpperCase()}]`);
}

/** Ids are names in the store, never parts of a path. */
export function assertId(what: string, id: string): void {
  if (typeof id === "string" && id !== "" && id.length <= LONGEST_ID) return;
  throw new Error(
    `The id of the ${what} is empty or longer than ${LONGEST_ID} characters. Nothing was changed.`,
  );
}

function directoryOf(appId: string): string {
  const known = directories.get(appId) ?? options.resolveAppDir?.(appId) ?? withThreadOf(appId);
  if (known !== undefined) return known;
  const home = process.env["MOLDABLE_HOME"] ?? join(homedir(), ".moldable");
  return join(home, "shared", "apps", appId);
}

/** [R2436] Does something in each store whose directory is gone: of an app that was removed first, nothing else is left. */
export function inGoneApps(work: (workspace: SyncWorkspace) => void): void {
  const { home } = chosen();
  for (const { path } of protectedRoots({ home })) {
    if (existsSync(path)) continue;
    using workspace = findWorkspaceSync(path, { home });
    if (workspace.root === path) work(workspace);
  }
}

/** A protected directory in which conversations about the app took place. */
function withThreadOf(appId: string): string | undefined {
  const prefix = prefixOf(appId);
  const roots = protectedRoots({ home: chosen().home }).filter(({ path }) => existsSync(path));
  return roots.find(({ path }) =>
    new Root(path, { nested: true }).known?.threads
      .list()
      .some(({ agent, externalId }) => agent === AGENT && externalId.startsWith(prefix)),
  )?.path;
}
