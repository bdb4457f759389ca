/** Where one client plays: a project under git, a home, a temporary directory and a `$BELAY_HOME` of its own. */
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
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
import { setTimeout as pause } from "node:timers/promises";
import { describeTree } from "../packages/cli/test/describe-tree.ts";
import type { Command } from "./client.ts";

const LAUNCHER = join(import.meta.dirname, "../packages/cli/bin/belay.js");
const PATIENCE_MS = 300_000;
/** No program listens there, so network requests of a client fail at once. */
const NO_NETWORK = "http://127.0.0.1:9";

export interface Ran {
  readonly status: number | null;
  readonly output: string;
}

export class Stage implements Disposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "belay-agents-")));
  readonly project = join(this.base, "project");
  readonly user = join(this.base, "user");
  readonly home = join(this.base, "belay");
  readonly troubleLog = join(this.home, "agents/trouble.log");
  readonly #isKept: boolean;

  constructor(files: Readonly<Record<string, string>>, options: { keep: boolean }) {
    this.#isKept = options.keep;
    for (const directory of [this.project, this.user, join(this.base, "tmp")]) mkdirSync(directory);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(this.project, path)), { recursive: true });
      writeFileSync(join(this.project, path), content);
    }
    const git = spawnSync("git", ["init", "--quiet"], { cwd: this.project, env: this.environment });
    assert.equal(git.status, 0, "git init");
  }

  /** Nothing of the user who runs this: no settings, no credentials. */
  get environment(): NodeJS.ProcessEnv {
    return {
      PATH: process.env["PATH"],
      HOME: this.user,
      TMPDIR: join(this.base, "tmp"),
      LANG: "C.UTF-8",
      BELAY_HOME: this.home,
      // a resident process is there when it was started here, and only then
      BELAY_RESIDENT: "off",
      HTTP_PROXY: NO_NETWORK,
      HTTPS_PROXY: NO_NETWORK,
      NO_PROXY: "127.0.0.1,localhost",
    };
  }

  /** Runs a client to its end, or until a file appears; the model that it talks to is not blocked meanwhile. */
  async run(command: Command, killedAt?: string): Promise<Ran> {
    const child = this.#start(command);
    const watch = setInterval(() => {
      if (killedAt !== undefined && existsSync(join(this.project, killedAt)))
        process.kill(-child.pid!, "SIGKILL");
    }, 50);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    const [status] = (await once(child, "close")) as [number | null];
    clearInterval(watch);
    writeFileSync(join(this.base, "client.log"), output);
    return { status, output };
  }

  /** Runs a client until `isSilent`, and leaves it there: alive, and without a word. What is given back ends it. */
  async leaveOpen(command: Command, isSilent: () => boolean): Promise<Disposable> {
    const child = this.#start(command);
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text: string) => (output += text));
    while (!isSilent()) {
      assert.equal(child.exitCode, null, `the client ended: ${output.slice(-2000)}`);
      await pause(50);
    }
    process.kill(-child.pid!, "SIGSTOP");
    return { [Symbol.dispose]: () => void process.kill(-child.pid!, "SIGKILL") };
  }

  #start({ program, args, environment }: Command) {
    return spawn(program, args, {
      cwd: this.project,
      env: { ...this.environment, ...environment },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: PATIENCE_MS,
      detached: true,
    });
  }

  belay(...args: string[]): Ran {
    const { status, stdout, stderr } = spawnSync(process.execPath, [LAUNCHER, ...args], {
      cwd: this.project,
      env: this.environment,
      encoding: "utf8",
      maxBuffer: 1 << 28,
    });
    return { status, output: `${stdout}${stderr}` };
  }

  /** A command that must succeed, and what it says with `--json`. */
  json(...args: string[]): any {
    const { status, output } = this.belay("--json", ...args);
    assert.equal(status, 0, `belay ${args.join(" ")}: ${output}`);
    return JSON.parse(output);
  }

  /** Whether the resident process has been asked about the project: by hooks, as long as no command was run. */
  residentWasAsked(): boolean {
    const log = join(this.home, "run/resident.log");
    return existsSync(log) && readFileSync(log, "utf8").includes("workspace opened");
  }

  /** The whole project, without what belongs to git. */
  tree(): string[] {
    return describeTree(this.project).filter((line) => !line.startsWith("/.git/"));
  }

  [Symbol.dispose](): void {
    this.belay("stop");
    if (this.#isKept) console.error(`kept: ${this.base}`);
    else if (existsSync(this.base)) rmSync(this.base, { recursive: true, force: true, maxRetries: 5 });
  }
}
