/** A protected directory of its own for one test, with a home of its own, and the proof at the end that the store is sound. */
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createSystem, openWorkspace, type System, type ThreadId, type Workspace } from "../../src/index.ts";
import { makeDirectory } from "./place.ts";
import { makeSecondCopy } from "./second-copy.ts";
import { findStageLeftovers, readTreeMap, type TreeMap } from "./tree-map.ts";

export interface TempWorkspace {
  readonly root: string;
  readonly home: string;
  /** The workspace as it is open now; `reopen` replaces it. */
  readonly workspace: Workspace;
  readonly write: (path: string, content: string) => void;
  readonly read: (path: string) => string;
  readonly remove: (path: string) => void;
  readonly tree: () => TreeMap;
  /** One turn called `name` that does `work`; resolves to the tree after it. */
  readonly turn: (name: string, work: () => void, thread?: ThreadId) => Promise<TreeMap>;
  readonly openThread: (name: string) => Promise<ThreadId>;
  readonly reopen: () => Promise<void>;
  /** Moves the engine's clock. */
  readonly passHours: (hours: number) => void;
  /** A second working copy of the files as they are; it is closed, and proved tidy, with this one. */
  readonly fork: (name: string) => Promise<TempWorkspace>;
}

/** Runs a test in a fresh workspace of these files, then proves the store sound and the root tidy. */
export function inWorkspace(
  files: Readonly<Record<string, string>>,
  body: (temp: TempWorkspace) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const base = makeDirectory("belay-test-");
    const temp = new OpenTempWorkspace(base);
    try {
      for (const [path, content] of Object.entries(files)) temp.write(path, content);
      await temp.open();
      await body(temp);
      assert.partialDeepStrictEqual(await temp.workspace.upkeep.verify({ full: true }), {
        ok: true,
        problems: [],
      });
      for (const each of [temp, ...temp.forks]) assert.deepEqual(findStageLeftovers(each.root), []);
    } finally {
      await temp.close();
      rmSync(base, { recursive: true, force: true });
    }
  };
}

class OpenTempWorkspace implements TempWorkspace {
  readonly root: string;
  readonly home: string;
  readonly forks: OpenTempWorkspace[] = [];
  readonly #base: string;
  readonly #system: System;
  /** How far ahead the clock of all working copies is. */
  readonly #ahead: { hours: number };
  #workspace: Workspace | undefined;

  constructor(base: string, name = "root", ahead = { hours: 0 }) {
    this.#base = base;
    this.root = join(base, name);
    this.home = join(base, "home");
    mkdirSync(this.root, { recursive: true });
    const system = createSystem();
    this.#ahead = ahead;
    this.#system = { ...system, now: () => system.now() + ahead.hours * 3_600_000 };
  }

  get workspace(): Workspace {
    return this.#workspace!;
  }

  async open(): Promise<void> {
    this.#workspace = await openWorkspace(this.root, { home: this.home, system: this.#system });
    // every test of captures is one of live captures too
    if (process.env["BELAY_LIVE"] === "1") await this.#workspace.watch();
  }

  async close(): Promise<void> {
    for (const fork of this.forks) await fork.close();
    await this.closeHere();
  }

  async closeHere(): Promise<void> {
    await this.#workspace?.close();
  }

  readonly fork = async (name: string): Promise<TempWorkspace> => {
    await makeSecondCopy(this, { root: join(this.#base, name), name });
    const fork = new OpenTempWorkspace(this.#base, name, this.#ahead);
    this.forks.push(fork);
    await fork.open();
    return fork;
  };

  readonly write = (path: string, content: string): void => {
    mkdirSync(dirname(join(this.root, path)), { recursive: true });
    writeFileSync(join(this.root, path), content);
  };

  readonly read = (path: string): string => readFileSync(join(this.root, path), "utf8");

  readonly remove = (path: string): void => rmSync(join(this.root, path), { recursive: true });

  readonly tree = (): TreeMap => readTreeMap(this.root);

  readonly turn = async (name: string, work: () => void, thread?: ThreadId): Promise<TreeMap> => {
    const request = { prompt: name, ...(thread === undefined ? {} : { thread }) };
    await this.workspace.turns.run(request, async () => work());
    return this.tree();
  };

  readonly openThread = async (name: string): Promise<ThreadId> =>
    (await this.workspace.threads.open({ agent: name, externalId: name })).id;

  readonly reopen = async (): Promise<void> => {
    await this.closeHere();
    await this.open();
  };

  readonly passHours = (hours: number): void => {
    this.#ahead.hours += hours;
  };
}

const ENGINE = new URL("../../src/index.ts", import.meta.url).href;

/** The arguments that make Node run a script in which `workspace` is open and `fs` is node:fs; it prints what it returns. */
export function processScript(
  { root, home }: Pick<TempWorkspace, "root" | "home">,
  script: string,
): string[] {
  const source = `
    import * as fs from "node:fs";
    import { openWorkspace } from ${JSON.stringify(ENGINE)};
    const root = ${JSON.stringify(root)};
    const workspace = await openWorkspace(root, { home: ${JSON.stringify(home)} });
    const result = await (async () => { ${script} })();
    process.stdout.write(JSON.stringify(result ?? null));`;
  return ["--input-type=module", "-e", source];
}

/** Starts a script in a process of its own; resolves to what it returns. */
export async function startInProcess<Result>(
  temp: Pick<TempWorkspace, "root" | "home">,
  script: string,
): Promise<Result> {
  const child = spawn(process.execPath, processScript(temp, script), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString("utf8")));
  const code = await new Promise((resolve) => child.on("close", resolve));
  assert.equal(code, 0);
  return JSON.parse(output) as Result;
}

/** Runs a script in a process of its own and returns what it returns. */
export function runInProcess<Result>(temp: Pick<TempWorkspace, "root" | "home">, script: string): Result {
  const output = execFileSync(process.execPath, processScript(temp, script), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  return JSON.parse(output.toString("utf8")) as Result;
}
