/**
 * What people use instead: the sequences with which other tools take checkpoints, a plain copy, and backup
 * programs where they are installed. Each does the same work through the commands its users would run.
 */
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { Belay } from "./belay.ts";
import { diskBytes } from "./measure.ts";

export interface Peer {
  readonly name: string;
  /** Starts from nothing. */
  create(): void;
  /** Takes a checkpoint and names it. */
  capture(): string;
  restore(checkpoint: string, paths?: readonly string[]): void;
  /** undefined: it has none */
  diff?(from: string, to: string): void;
  list?(): void;
  bytes(): number;
  /** Peak memory of one capture, in bytes. */
  memory?(): number;
  /** What goes on beside the commands is begun, after the first capture. */
  started?(): void;
  /** Nothing is left running. */
  close?(): void;
}

/** The peers of this name that the machine has: `git` is the three ways in which git is used. */
export function createPeers(names: readonly string[], place: string, root: string): Peer[] {
  const at = (name: string) => join(place, name);
  const all: Readonly<Record<string, () => Peer[]>> = {
    git: () => [
      new GitTree(at("git-tree"), root),
      new GitCommit(at("git-commit"), root),
      new GitGhost(at("git-ghost"), root),
    ],
    cp: () => [new Copy(at("copies"), root)],
    restic: () => (has("restic") ? [new Restic(at("restic"), root)] : []),
    borg: () => (has("borg") ? [new Borg(at("borg"), root)] : []),
  };
  mkdirSync(place, { recursive: true });
  const own = [new BelayPeer(at("belay"), root), new ResidentBelay(at("belay-resident"), root)];
  return [...own, ...names.flatMap((name) => all[name]?.() ?? [])];
}

function has(program: string): boolean {
  return spawnSync(program, ["version"], { stdio: "ignore" }).error === undefined;
}

class BelayPeer implements Peer {
  readonly name: string = "belay";
  readonly #belay: Belay;
  readonly #home: string;

  constructor(home: string, root: string, options: { resident?: boolean } = {}) {
    this.#home = home;
    this.#belay = new Belay(home, root, options);
  }

  protected run(...args: string[]): void {
    this.#belay.run(...args);
  }

  create(): void {
    rmSync(this.#home, { recursive: true, force: true });
  }

  capture(): string {
    const isFirst = !existsSync(this.#home);
    const { json } = this.#belay.run(...(isFirst ? ["init", "--no-agents", "--yes"] : ["checkpoint"]));
    return (json["checkpoint"] as { id: string }).id;
  }

  restore(checkpoint: string, paths: readonly string[] = []): void {
    this.#belay.run("restore", checkpoint, "--yes", ...paths);
  }

  diff(from: string, to: string): void {
    this.#belay.run("diff", from, to);
  }

  list(): void {
    this.#belay.run("list", "--limit", "100");
  }

  bytes(): number {
    return diskBytes(this.#home) - RESERVE_BYTES;
  }

  memory(): number {
    return this.#belay.peakMemory(join(this.#home, "..", "memory"), "checkpoint");
  }
}

/** As people have it: the first command leaves a process behind that knows the files from then on. */
class ResidentBelay extends BelayPeer {
  override readonly name = "belay with its process";

  constructor(home: string, root: string) {
    super(home, root, { resident: true });
  }

  /** The process is there and has looked at the files once. */
  started(): void {
    this.run("start");
    this.run("checkpoint");
  }

  close(): void {
    this.run("stop");
  }
}

/** Kept aside for freeing space on a full disk; not part of the history. */
export const RESERVE_BYTES = 4 * 1024 * 1024;

const IDENTITY = {
  GIT_AUTHOR_NAME: "b",
  GIT_AUTHOR_EMAIL: "b@b",
  GIT_COMMITTER_NAME: "b",
  GIT_COMMITTER_EMAIL: "b@b",
  GIT_CONFIG_GLOBAL: "/dev/null",
};

abstract class Git implements Peer {
  abstract readonly name: string;
  readonly directory: string;
  readonly env: NodeJS.ProcessEnv;
  readonly root: string;

  constructor(directory: string, root: string) {
    this.directory = directory;
    this.root = root;
    this.env = { ...process.env, ...IDENTITY, GIT_DIR: directory, GIT_WORK_TREE: root };
  }

  create(): void {
    rmSync(this.directory, { recursive: true, force: true });
    this.git("init", "-q");
  }

  abstract capture(): string;

  restore(checkpoint: string, paths?: readonly string[]): void {
    if (paths === undefined) this.git("read-tree", "-u", "--reset", checkpoint);
    else this.git("checkout", checkpoint, "--", ...paths);
  }

  diff(from: string, to: string): void {
    this.git("diff", from, to);
  }

  list(): void {
    this.git("log", "--all", "-100", "--format=%H %s");
  }

  bytes(): number {
    return diskBytes(this.directory);
  }

  memory(): number {
    return peakOf("git", ["add", "-A"], this.env, this.root);
  }

  protected git(...args: string[]): string {
    return this.gitWith({}, ...args);
  }

  protected gitWith(env: NodeJS.ProcessEnv, ...args: string[]): string {
    return execFileSync("git", args, {
      cwd: this.root,
      env: { ...this.env, ...env },
      encoding: "utf8",
      maxBuffer: 1 << 29,
    }).trim();
  }
}

class GitTree extends Git {
  readonly name = "git: add, write-tree, commit-tree";
  #parent: string | undefined;

  capture(): string {
    this.git("add", "-A");
    const parents = this.#parent === undefined ? [] : ["-p", this.#parent];
    this.#parent = this.git("commit-tree", this.git("write-tree"), ...parents, "-m", "checkpoint");
    this.git("update-ref", "refs/heads/checkpoints", this.#parent);
    return this.#parent;
  }
}

class GitCommit extends Git {
  readonly name = "git: add, commit";

  capture(): string {
    this.git("add", "-A");
    this.git("commit", "-q", "--allow-empty", "--no-verify", "-m", "checkpoint");
    return this.git("rev-parse", "HEAD");
  }
}

/** A commit on no branch, made with an index of its own that is thrown away. */
class GitGhost extends Git {
  readonly name = "git: ghost commit";
  #parent: string | undefined;

  capture(): string {
    const index = { GIT_INDEX_FILE: join(this.directory, "ghost-index") };
    rmSync(index.GIT_INDEX_FILE, { force: true });
    if (this.#parent !== undefined) this.gitWith(index, "read-tree", this.#parent);
    this.gitWith(index, "add", "-A");
    const tree = this.gitWith(index, "write-tree");
    const parents = this.#parent === undefined ? [] : ["-p", this.#parent];
    this.#parent = this.git("commit-tree", tree, ...parents, "-m", "checkpoint");
    this.git("update-ref", "refs/ghost", this.#parent);
    return this.#parent;
  }
}

class Copy implements Peer {
  readonly name = "cp -a";
  readonly #directory: string;
  readonly #root: string;
  #count = 0;

  constructor(directory: string, root: string) {
    this.#directory = directory;
    this.#root = root;
  }

  create(): void {
    rmSync(this.#directory, { recursive: true, force: true });
    mkdirSync(this.#directory);
  }

  capture(): string {
    this.#count += 1;
    const copy = join(this.#directory, String(this.#count));
    execFileSync("cp", ["-a", this.#root, copy]);
    // only the newest few are kept: two hundred copies would fill the disk
    rmSync(join(this.#directory, String(this.#count - 4)), { recursive: true, force: true });
    return copy;
  }

  restore(checkpoint: string, paths?: readonly string[]): void {
    if (paths === undefined) execFileSync("cp", ["-a", `${checkpoint}/.`, this.#root]);
    else for (const path of paths) cpSync(join(checkpoint, path), join(this.#root, path));
  }

  diff(from: string, to: string): void {
    spawnSync("diff", ["-rq", from, to], { maxBuffer: 1 << 29 });
  }

  bytes(): number {
    return diskBytes(this.#directory);
  }
}

class Restic implements Peer {
  readonly name = "restic";
  readonly #directory: string;
  readonly #root: string;

  constructor(directory: string, root: string) {
    this.#directory = directory;
    this.#root = root;
  }

  create(): void {
    rmSync(this.#directory, { recursive: true, force: true });
    this.#restic("init");
  }

  capture(): string {
    const lines = this.#restic("backup", "--json", this.#root).trim().split("\n");
    return (JSON.parse(lines.at(-1)!) as { snapshot_id: string }).snapshot_id;
  }

  restore(checkpoint: string, paths?: readonly string[]): void {
    const include = (paths ?? []).flatMap((path) => ["--include", join(this.#root, path)]);
    this.#restic("restore", checkpoint, "--target", "/", ...include);
  }

  diff(from: string, to: string): void {
    this.#restic("diff", from, to);
  }

  list(): void {
    this.#restic("snapshots");
  }

  bytes(): number {
    return diskBytes(this.#directory);
  }

  memory(): number {
    return peakOf("restic", ["backup", this.#root], this.#env);
  }

  get #env(): NodeJS.ProcessEnv {
    const cache = `${this.#directory}-cache`;
    return {
      ...process.env,
      RESTIC_REPOSITORY: this.#directory,
      RESTIC_PASSWORD: "bench",
      RESTIC_CACHE_DIR: cache,
    };
  }

  #restic(...args: string[]): string {
    return execFileSync("restic", args, {
      env: this.#env,
      encoding: "utf8",
      maxBuffer: 1 << 29,
      stdio: ["ignore", "pipe", "ignore"],
    });
  }
}

class Borg implements Peer {
  readonly name = "borg";
  readonly #directory: string;
  readonly #root: string;
  #count = 0;

  constructor(directory: string, root: string) {
    this.#directory = directory;
    this.#root = root;
  }

  create(): void {
    rmSync(this.#directory, { recursive: true, force: true });
    this.#borg("init", "--encryption=none", this.#directory);
  }

  capture(): string {
    this.#count += 1;
    const archive = `${this.#directory}::${this.#count}`;
    this.#borg("create", archive, this.#root);
    return archive;
  }

  restore(checkpoint: string, paths: readonly string[] = []): void {
    this.#borg("extract", checkpoint, ...paths.map((path) => relative("/", join(this.#root, path))));
  }

  diff(from: string, to: string): void {
    this.#borg("diff", from, to.split("::")[1]!);
  }

  list(): void {
    this.#borg("list", this.#directory);
  }

  bytes(): number {
    return diskBytes(this.#directory);
  }

  memory(): number {
    return peakOf("borg", ["create", `${this.#directory}::memory`, this.#root], this.#env);
  }

  get #env(): NodeJS.ProcessEnv {
    return {
      ...process.env,
      BORG_BASE_DIR: `${this.#directory}-base`,
      BORG_UNKNOWN_UNENCRYPTED_REPO_ACCESS_IS_OK: "yes",
    };
  }

  #borg(...args: string[]): string {
    return execFileSync("borg", args, { cwd: "/", env: this.#env, encoding: "utf8", maxBuffer: 1 << 29 });
  }
}

/** The most memory a program ever held, from the kernel's own account of it. */
function peakOf(program: string, args: string[], env: NodeJS.ProcessEnv, cwd = "/"): number {
  const script =
    "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)";
  const run = spawnSync("python3", ["-c", script, program, ...args], { cwd, env, encoding: "utf8" });
  return Number(run.stdout) * 1024;
}
