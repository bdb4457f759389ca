/**
 * The git repository of a fork: its own HEAD, refs and index, and the objects of the original by `alternates`. History can
 * be read and commits made; there is no remote, no hook and no credential, so nothing can be published from it. The
 * original's files are only read. [R93]
 */
import { below, realPath, type AbsolutePath } from "../fs/absolute-path.ts";
import { copyContent, copyTree } from "../fs/copy-file.ts";
import { EnteredDirectory } from "../fs/entered-directory.ts";
import { statNode } from "../fs/file-stat.ts";
import { listDirectory } from "../fs/list-directory.ts";
import { createDirectory, createFile } from "../fs/mutate.ts";
import { readGitConfig, type GitConfig } from "../git/git-config.ts";
import { readGitFileWithStat, statGitFile } from "../git/git-file.ts";
import { findRepository, type Repository } from "../git/git-repository.ts";
import { refreshIndex, type IndexedStat } from "../git/refresh-index.ts";
import { baseName, parentPath, type BytePath } from "../model/byte-path.ts";
import { FILE, type FileTable } from "../scan/file-table.ts";

/** Whether a repository was made, and why not. */
export interface PrivateRepository {
  readonly git: "private" | "none";
  /** A sentence for the user; undefined where there is nothing to say. */
  readonly reason?: string;
}

/** The files of the original by its last scan, and those of the fork. */
export interface ForkedFiles {
  readonly original: FileTable | undefined;
  readonly fork: FileTable;
}

/** Makes the repository of a fork, in the fork's directory; nothing where the original has none of its own. */
export function makePrivateRepository(
  root: AbsolutePath,
  fork: AbsolutePath,
  files: ForkedFiles,
): PrivateRepository {
  const repository = findRepository(root);
  if (repository === undefined) return { git: "none" };
  if (repository.prefix !== "") return none("The workspace lies below the top of its git repository");
  if (!repository.hasRefFiles)
    return none("The git repository keeps its branches in a form that only git can read");
  const objects = realPath(below(repository.commonDir, "objects"));
  if (objects.includes("\n")) return none("The path of the git repository has a line break in it");
  write(repository, objects, { fork, files });
  return { git: "private" };
}

function none(why: string): PrivateRepository {
  return { git: "none", reason: `${why}: the fork has no git repository.` };
}

/** Files that say what is checked out and which commits there are; `true` for those of the linked worktree itself. */
const COPIED: readonly (readonly [name: string, own: boolean])[] = [
  ["HEAD", true],
  ["packed-refs", false],
  ["shallow", false],
  ["info/exclude", false],
  ["info/sparse-checkout", true],
];

function write(
  repository: Repository,
  objects: AbsolutePath,
  { fork, files }: { fork: AbsolutePath; files: ForkedFiles },
): void {
  const { gitDir, commonDir } = repository;
  // [R1951] each directory is entered, not followed
  using git = newDirectory(below(fork, ".git"));
  using info = newDirectory(git.at("info"));
  using ownObjects = newDirectory(git.at("objects"));
  using objectsInfo = newDirectory(ownObjects.at("info"));
  createDirectory(ownObjects.at("pack"));
  put(objectsInfo.at("alternates"), Buffer.from(`${objects}\n`, "latin1"));
  const config = readGitConfig(gitDir, commonDir);
  put(git.at("config"), Buffer.from(configOf(repository, config), "latin1"));
  for (const [name, own] of COPIED) {
    const to = name.startsWith(INFO) ? info.at(name.slice(INFO.length)) : git.at(name);
    copyIfThere(below(own ? gitDir : commonDir, name), to);
  }
  writeIndex(repository, git.at("index"), { fork, files });
  for (const name of listDirectory(gitDir).filter((each) => each.startsWith("sharedindex.")))
    copyIfThere(below(gitDir, name), git.at(name));
  const linkTarget = (target: Buffer) => target;
  for (const _ of copyTree(below(commonDir, "refs"), git.at("refs"), {
    clone: false,
    linkTarget,
    done: () => {},
    torn: () => {},
  }));
}

const INFO = "info/";

function newDirectory(path: AbsolutePath): EnteredDirectory {
  createDirectory(path);
  return new EnteredDirectory(path);
}

function put(path: AbsolutePath, bytes: Buffer): void {
  createFile(path, [bytes], { mode: 0o600, sync: false });
}

function copyIfThere(from: AbsolutePath, to: AbsolutePath): void {
  if (statGitFile(from)?.isFile() === true) copyContent(from, to, { clone: true });
}

/** [R2400] What git knows of the original's files it knows of the fork's, which have other times. */
function writeIndex(
  { gitDir, objectFormat }: Repository,
  to: AbsolutePath,
  { fork, files }: { fork: AbsolutePath; files: ForkedFiles },
): void {
  const index = readGitFileWithStat(below(gitDir, "index"), INDEX_LIMIT);
  const owner = statNode(fork);
  if (index === undefined || owner === undefined) return copyIfThere(below(gitDir, "index"), to);
  const [original, copy] = [files.original && new KnownStats(files.original), new KnownStats(files.fork)];
  const bytes = refreshIndex(index.bytes, {
    writtenNs: index.stat.mtimeNs,
    objectBytes: objectFormat === "sha1" ? 20 : 32,
    owner,
    statsOf: (path) => {
      const [one, other] = [original?.find(path) ?? -1, copy.find(path)];
      if (one < 0 || other < 0 || !files.original!.hasHashOf(one, files.fork, other)) return undefined;
      return { original: original!.at(one), copy: copy.at(other) };
    },
  });
  put(to, bytes);
}

/** Larger ones are copied as they are. */
const INDEX_LIMIT = 2 ** 30;

/** The regular files of a scan. */
class KnownStats {
  readonly #table: FileTable;
  readonly #directories: ReadonlyMap<string, number>;
  /** Most files follow one of the same directory. */
  #last: { readonly path: string; readonly directory: number | undefined } | undefined;

  constructor(table: FileTable) {
    this.#table = table;
    this.#directories = new Map(table.directories.map((path, index) => [path, index]));
  }

  /** Where a file is in the table; -1 where it is not, or was not at rest. */
  find(path: BytePath): number {
    const table = this.#table;
    const parent = parentPath(path);
    if (this.#last?.path !== parent) this.#last = { path: parent, directory: this.#directories.get(parent) };
    const { directory } = this.#last;
    const at = directory === undefined ? -1 : table.find(directory, baseName(path));
    return at >= 0 && table.kind[at] === FILE && table.flags[at] === 0 ? at : -1;
  }

  at(index: number): IndexedStat {
    const table = this.#table;
    return {
      size: table.size[index]!,
      mtimeNs: table.mtimeNs[index]!,
      ctimeNs: table.ctimeNs[index]!,
      ino: table.ino[index]!,
    };
  }
}

/** Settings that say how files are written and who commits; nothing that names a program, a remote or a credential. */
const SETTINGS =
  "core.filemode core.ignorecase core.symlinks core.autocrlf core.eol core.safecrlf core.precomposeunicode core.sparsecheckout core.sparsecheckoutcone user.name user.email".split(
    " ",
  );

function configOf({ objectFormat }: Repository, config: GitConfig): string {
  const lines = [
    "[core]",
    `\trepositoryformatversion = ${objectFormat === "sha1" ? 0 : 1}`,
    "\tbare = false",
    "\tlogallrefupdates = true",
    // what the original's objects hold is never packed again, and never by a process that outlives its command
    "[gc]",
    "\tauto = 0",
    ...(objectFormat === "sha1" ? [] : ["[extensions]", `\tobjectformat = ${objectFormat}`]),
  ];
  for (const name of SETTINGS) {
    const value = config.get(name);
    const [section, key] = name.split(".");
    if (value !== undefined) lines.push(`[${section}]`, `\t${key} = ${quoted(value)}`);
  }
  return `${lines.join("\n")}\n`;
}

function quoted(value: string): string {
  const escaped = value.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("\n", String.raw`\n`);
  return `"${escaped}"`;
}
