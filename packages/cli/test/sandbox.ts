/** A project, a home and the real command, all in a directory of their own. */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createSystem, openWorkspace, type CheckpointRequest } from "@belay/engine";

export const LAUNCHER = join(import.meta.dirname, "..", "bin", "belay.js");

export interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

export class Sandbox implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "belay-cli-")));
  readonly project = join(this.base, "project");
  readonly home = join(this.base, "home");

  constructor(files: Readonly<Record<string, string>> = { "a.txt": "one\n", "src/b.txt": "two\n" }) {
    mkdirSync(this.project);
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  /** A sandbox whose project is protected already: by the library, which is ten times faster than a process. */
  static async protected(files?: Readonly<Record<string, string>>): Promise<Sandbox> {
    const sandbox = new Sandbox(files);
    await sandbox.protect();
    return sandbox;
  }

  async protect(): Promise<void> {
    const workspace = await openWorkspace(this.project, { home: this.home });
    await workspace.close();
  }

  path(path: string): string {
    return join(this.project, path);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content);
  }

  remove(path: string): void {
    rmSync(this.path(path), { recursive: true });
  }

  read(path: string): string | undefined {
    return existsSync(this.path(path)) ? readFileSync(this.path(path), "utf8") : undefined;
  }

  get environment(): NodeJS.ProcessEnv {
    const { NO_COLOR: _, NODE_OPTIONS: __, ...rest } = process.env;
    return {
      ...rest,
      HOME: this.base,
      BELAY_HOME: this.home,
      XDG_CACHE_HOME: join(tmpdir(), "belay-test-cache"),
    };
  }

  belay(args: readonly string[], options: RunOptions = {}): Ran {
    const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], {
      cwd: options.cwd ?? this.project,
      env: { ...this.environment, ...options.env },
      input: options.input ?? "",
      encoding: "utf8",
      maxBuffer: 256 * 1024 * 1024,
    });
    return { status, stdout, stderr };
  }

  /** Runs a command that must succeed, and gives its stdout. */
  ok(...args: string[]): string {
    const ran = this.belay(args);
    assert.equal(ran.status, 0, `belay ${args.join(" ")}\n${ran.stdout}${ran.stderr}`);
    return ran.stdout;
  }

  /** Runs a command with `--json`; the exit code must be the given one. */
  json(args: readonly string[], status = 0, options: RunOptions = {}): any {
    const ran = this.belay(["--json", ...args], options);
    assert.equal(ran.status, status, `belay ${args.join(" ")}\n${ran.stdout}${ran.stderr}`);
    return JSON.parse(ran.stdout);
  }

  /** The error a command ends with. */
  error(args: readonly string[], status: number): any {
    return this.json(args, status).error;
  }

  /** A checkpoint for a test to start from, perhaps an old one; by the library, as `protect`. */
  async checkpoint(request: CheckpointRequest = {}, daysAgo = 0): Promise<void> {
    const system = { ...createSystem(), now: () => Date.now() - daysAgo * 86_400_000 };
    await using workspace = await openWorkspace(this.project, { home: this.home, system });
    await workspace.checkpoint({ kind: "manual", ...request });
  }

  /** Every test that opened a store ends with this. */
  async verify(): Promise<void> {
    await using workspace = await openWorkspace(this.project, { home: this.home });
    assert.deepEqual((await workspace.upkeep.verify({ full: true })).problems, []);
  }

  [Symbol.dispose](): void {
    rmSync(this.base, { recursive: true, force: true });
  }
}

export const ID = /^[k-z]{16}$/;
export const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
