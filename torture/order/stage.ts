/** A project, the real command and the real hook: where a sequence is played. */
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, relative } from "node:path";
import { openWorkspace } from "@belay/engine";
import { writeHook } from "@belay/agents";
import { isPlanted } from "../suite.ts";
import type { ClientPlace } from "./agent-client.ts";

const CLI = join(import.meta.dirname, "../../packages/cli");
const LAUNCHER = join(CLI, "bin/belay.js");
/** Far longer than any hook takes, so that a busy machine makes no capture late. */
const PATIENCE_MS = "60000";

export interface Ran {
  readonly status: number | null;
  readonly json: any;
}

/** One home with or without its resident process, for many projects. */
export class Home implements AsyncDisposable {
  readonly path: string;
  readonly isResident: boolean;
  readonly hook: string;
  /** What the agents' clients run in. */
  readonly program: string;

  constructor(base: string, isResident: boolean) {
    this.path = join(base, isResident ? "resident" : "alone");
    this.isResident = isResident;
    mkdirSync(this.path, { recursive: true, mode: 0o700 });
    const build = join(CLI, "dist/main.js");
    const script = writeHook({
      belayHome: this.path,
      node: process.execPath,
      cli: LAUNCHER,
      build,
      program: join(build, "../belay-hook"),
      environment: ["CLAUDE", "CODEX", "GEMINI", "BELAY"],
    });
    this.hook = script;
    this.program = join(this.path, "agent");
    symlinkSync("/bin/bash", this.program);
  }

  get environment(): NodeJS.ProcessEnv {
    const { NODE_OPTIONS: options, CLAUDECODE: _, ...rest } = process.env;
    return {
      ...rest,
      // a planted bug is in every process
      ...(isPlanted && { NODE_OPTIONS: options }),
      HOME: dirname(this.path),
      BELAY_HOME: this.path,
      BELAY_RESIDENT: "off",
      ...(!this.isResident && { BELAY_WAIT_MS: PATIENCE_MS }),
    };
  }

  /** How many hooks have released their agents before they were done. */
  lateHooks(): number {
    const log = join(this.path, "agents/trouble.log");
    return existsSync(log) ? readFileSync(log, "utf8").split("the agent continued").length - 1 : 0;
  }

  async start(): Promise<void> {
    if (this.isResident) await this.belay(["start"], dirname(this.path));
  }

  async belay(args: readonly string[], cwd: string): Promise<Ran> {
    const child = spawn(process.execPath, [LAUNCHER, "--json", ...args], {
      cwd,
      env: this.environment,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    const [status] = (await once(child, "close")) as [number | null];
    const text = await out;
    try {
      return { status, json: JSON.parse(text) };
    } catch {
      throw new Error(`belay ${args.join(" ")} ended with ${status}:\n${text}${await err}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.isResident) await this.belay(["stop"], dirname(this.path));
  }
}

async function collect(stream: AsyncIterable<Buffer>): Promise<string> {
  const parts: Buffer[] = [];
  for await (const part of stream) parts.push(part);
  return Buffer.concat(parts).toString("utf8");
}

export class Stage implements AsyncDisposable {
  readonly project: string;
  readonly home: Home;

  private constructor(home: Home, project: string) {
    [this.home, this.project] = [home, project];
  }

  static async open(home: Home, name: string, files: ReadonlyMap<string, string>): Promise<Stage> {
    const stage = new Stage(home, join(dirname(home.path), name, "project"));
    mkdirSync(stage.project, { recursive: true });
    for (const [path, content] of files) stage.put(path, content);
    const workspace = await openWorkspace(stage.project, { home: home.path });
    await workspace.close();
    return stage;
  }

  get clientPlace(): ClientPlace {
    const { environment, hook, program } = this.home;
    return { project: this.project, environment, hook, program };
  }

  put(path: string, content: string | undefined): void {
    const file = join(this.project, path);
    if (content === undefined) return rmSync(file, { force: true });
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
  }

  files(): Map<string, string> {
    const found = readdirSync(this.project, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const paths = found.map(({ parentPath, name }) => join(parentPath, name)).toSorted();
    return new Map(paths.map((path) => [relative(this.project, path), readFileSync(path, "utf8")]));
  }

  belay(...args: string[]): Promise<Ran> {
    return this.home.belay(args, this.project);
  }

  async verify(): Promise<void> {
    const { status, json } = await this.belay("verify");
    assert.equal(status, 0, JSON.stringify(json));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(dirname(this.project), { recursive: true, force: true });
  }
}
