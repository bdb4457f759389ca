/**
 * A directory and a home of its own for tests that open, move or break workspaces themselves. Whatever is
 * opened here is proved sound and closed at the end; a test whose point is damage says so with `damaged`.
 */
import assert from "node:assert/strict";
import { execFileSync, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import {
  createSystem,
  openWorkspace,
  writeSetting,
  type InitOptions,
  type SettingKey,
  type System,
  type Workspace,
} from "../../src/index.ts";
import { makeDirectory } from "./place.ts";
import { findStageLeftovers, readTreeMap, type TreeMap } from "./tree-map.ts";

export interface Project {
  /** Holds `root` and `home`; room for whatever else a test needs. */
  readonly base: string;
  readonly root: string;
  readonly home: string;
  /** Milliseconds added to the engine's clock. */
  clockMs: number;
  /** The store is not sound at the end, on purpose. */
  damaged: boolean;
  readonly system: System;
  write(path: string, content: string | Uint8Array): void;
  read(path: string): string;
  remove(path: string): void;
  tree(): TreeMap;
  configure(settings: Partial<Record<SettingKey, string>>): void;
  /** Opens, and if need be protects, the root or another directory. */
  open(options?: Partial<InitOptions> & { readonly at?: string }): Promise<Workspace>;
  /** Closes one before the end; it is proved sound first. */
  close(workspace: Workspace): Promise<void>;
  /** The directory of the one store in `home`. */
  storeDirectory(): string;
}

/** Runs a test on a fresh project of these files. */
export function inProject(
  files: Readonly<Record<string, string | Uint8Array>>,
  body: (project: Project) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const project = new OpenProject(makeDirectory("belay-project-"));
    try {
      for (const [path, content] of Object.entries(files)) project.write(path, content);
      await body(project);
      await project.closeAll();
    } finally {
      await project.abandon();
      removeStubborn(project.base);
    }
  };
}

/** The same with the root protected from the start. */
export function inProtected(
  files: Readonly<Record<string, string | Uint8Array>>,
  body: (project: Project, workspace: Workspace) => Promise<void>,
): () => Promise<void> {
  return inProject(files, async (project) => body(project, await project.open()));
}

class OpenProject implements Project {
  readonly base: string;
  readonly root: string;
  readonly home: string;
  readonly system: System;
  readonly #open = new Set<Workspace>();
  clockMs = 0;
  damaged = false;

  constructor(base: string) {
    this.base = base;
    this.root = join(base, "root");
    this.home = join(base, "home");
    mkdirSync(this.root);
    const system = createSystem();
    this.system = { ...system, now: () => system.now() + this.clockMs };
  }

  write(path: string, content: string | Uint8Array): void {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  }

  read(path: string): string {
    return readFileSync(join(this.root, path), "utf8");
  }

  remove(path: string): void {
    rmSync(join(this.root, path), { recursive: true });
  }

  tree(): TreeMap {
    return readTreeMap(this.root);
  }

  configure(settings: Partial<Record<SettingKey, string>>): void {
    for (const [key, value] of Object.entries(settings)) writeSetting(this.home, key, value);
  }

  async open({
    at = this.root,
    ...options
  }: Partial<InitOptions> & { at?: string } = {}): Promise<Workspace> {
    const workspace = await openWorkspace(at, { home: this.home, system: this.system, ...options });
    this.#open.add(workspace);
    return workspace;
  }

  async close(workspace: Workspace): Promise<void> {
    if (!this.damaged) {
      assert.partialDeepStrictEqual(await workspace.upkeep.verify({ full: true }), {
        ok: true,
        problems: [],
      });
      assert.deepEqual(findStageLeftovers(workspace.root), []);
    }
    this.#open.delete(workspace);
    await workspace.close();
  }

  async closeAll(): Promise<void> {
    for (const workspace of this.#open) await this.close(workspace);
  }

  /** After a failure: lets go without asking anything. */
  async abandon(): Promise<void> {
    for (const workspace of this.#open) await workspace.close();
    this.#open.clear();
  }

  storeDirectory(): string {
    const stores = readdirSync(join(this.home, "workspaces"));
    assert.equal(stores.length, 1);
    return join(this.home, "workspaces", stores[0]!);
  }
}

/** Removes a directory that may hold immutable files and mount points. */
function removeStubborn(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    spawnSync("chattr", ["-R", "-i", path]);
    rmSync(path, { recursive: true, force: true });
  }
}

const isRoot = process.getuid?.() === 0;

/** True when files can be made immutable here. */
export const canMakeImmutable =
  isRoot && worksWithFile((file) => run("chattr", "+i", file) && run("chattr", "-i", file));

/** True when a file system can be mounted here. */
export const canMount =
  isRoot && worksWithDirectory((directory) => mountSmall(directory, "1m") && run("umount", directory));

/** True when a command can be run as another user. */
export const canBecomeNobody = isRoot && run("setpriv", ...NOBODY(), "true");

function NOBODY(): string[] {
  return ["--reuid=65534", "--regid=65534", "--clear-groups"];
}

/** Mounts a file system of this size and tells whether that worked. */
export function mountSmall(directory: string, size: string): boolean {
  return run("mount", "-t", "tmpfs", "-o", `size=${size}`, "tmpfs", directory);
}

export function unmount(directory: string): void {
  // lazily: a test that failed may still have files open there
  execFileSync("umount", ["--lazy", directory]);
}

export function setImmutable(path: string, immutable: boolean): void {
  execFileSync("chattr", [immutable ? "+i" : "-i", path]);
}

const ENGINE = new URL("../../src/index.ts", import.meta.url).href;

/** The source of a module that has `workspace` open, `fs` at hand, and prints what the script returns as JSON. */
export function scriptFor(
  { root, home, clockMs }: Pick<Project, "root" | "home"> & { readonly clockMs?: number },
  script: string,
): string {
  return `
    import * as fs from "node:fs";
    import { openWorkspace, findWorkspace, initWorkspace } from ${JSON.stringify(ENGINE)};
    const [root, home] = ${JSON.stringify([root, home])};
    const workspace = await openWorkspace(root, { home, clock: () => Date.now() + ${clockMs ?? 0} });
    const result = await (async () => { ${script} })();
    await workspace.close();
    process.stdout.write(JSON.stringify(result ?? null));`;
}

/** Runs a script in a process of its own, see `scriptFor`. */
export function runScript<Result>(project: Pick<Project, "root" | "home">, script: string): Result {
  const command = ["--input-type=module", "-e", scriptFor(project, script)];
  const output = execFileSync(process.execPath, command, {
    stdio: ["ignore", "pipe", "inherit"],
    maxBuffer: 2 ** 26,
  });
  return JSON.parse(output.toString("utf8")) as Result;
}

/** Runs a module in a process of an unprivileged user and returns its output as JSON. */
export function runAsNobody<Result>(source: string): Result {
  const command = [...NOBODY(), process.execPath, "--input-type=module", "-e", source];
  const output = execFileSync("setpriv", command, { stdio: ["ignore", "pipe", "inherit"] });
  return JSON.parse(output.toString("utf8")) as Result;
}

function run(command: string, ...args: string[]): boolean {
  return spawnSync(command, args, { stdio: "ignore" }).status === 0;
}

function worksWithDirectory(attempt: (directory: string) => boolean): boolean {
  const directory = makeDirectory("belay-probe-");
  try {
    return attempt(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function worksWithFile(attempt: (file: string) => boolean): boolean {
  return worksWithDirectory((directory) => {
    writeFileSync(join(directory, "file"), "");
    return attempt(join(directory, "file"));
  });
}
