/** The targets that the replaced designs set for themselves (docs/checklist.md), each measured as they describe it. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { findWorkspace, openWorkspace, type Workspace } from "@belay/engine";
import { diskBytes, median, mib, ms, type Row } from "./measure.ts";

const CRASHER = fileURLToPath(new URL("./crash-restore.ts", import.meta.url));
const RECOVERED_FILES = 100;
const LISTED = 100;
/** Kept aside for freeing space on a full disk; not part of the history. */
const RESERVE_BYTES = 4 * 1024 * 1024;

/** What is measured, on how many files, and what it must stay below. */
export interface Target {
  readonly work: string;
  readonly files: number;
  readonly mostMs: number;
}

/** The targets by name. */
export const TARGETS = {
  few: { work: "creation, 5 files, 50 KB", files: 5, mostMs: 50 },
  changed: { work: "creation, 10 files changed", files: 10, mostMs: 100 },
  some: { work: "creation, 50 files, 500 KB", files: 50, mostMs: 200 },
  restore: { work: "restore, 10 files", files: 10, mostMs: 100 },
  list: { work: `list of ${LISTED}`, files: 10, mostMs: 20 },
  recovery: { work: "recovery of an interrupted restore", files: RECOVERED_FILES, mostMs: 2000 },
} as const satisfies Record<string, Target>;

/** A row for each target, and one for compression. */
export async function measureTargets(place: string, rounds: number): Promise<Row[]> {
  const bench = new Targets(join(place, "targets"), rounds);
  return [
    await bench.creation(TARGETS.few),
    await bench.creation(TARGETS.changed),
    await bench.creation(TARGETS.some),
    await bench.restoring(TARGETS.restore),
    await bench.listing(TARGETS.list),
    await bench.recovery(TARGETS.recovery),
    await bench.compression(),
  ];
}

const FILE_BYTES = 10_000;

class Targets {
  readonly #place: string;
  readonly #rounds: number;
  #number = 0;

  constructor(place: string, rounds: number) {
    this.#place = place;
    this.#rounds = rounds;
  }

  creation(row: Target): Promise<Row> {
    return this.#timed(row, async ({ workspace, write }) => {
      write(row.files);
      return elapsed(() => workspace.checkpoint());
    });
  }

  restoring(row: Target): Promise<Row> {
    return this.#timed(row, async ({ workspace, write }) => {
      write(row.files);
      const { id } = await workspace.checkpoint();
      write(row.files);
      return elapsed(() => workspace.restoreTo(id));
    });
  }

  listing(row: Target): Promise<Row> {
    return this.#timed(row, async ({ workspace }) => {
      for (let at = (await workspace.list()).length; at < LISTED; at += 1) await workspace.checkpoint();
      return elapsed(() => workspace.list({ limit: LISTED }));
    });
  }

  async recovery(row: Target): Promise<Row> {
    const times: number[] = [];
    for (let round = 0; round < this.#rounds; round += 1) {
      const { root, home, write } = this.#project();
      write(row.files);
      await (await openWorkspace(root, { home })).close();
      write(row.files);
      // it kills itself when half of the files are back
      const { signal } = spawnCrasher(root, home);
      if (signal !== "SIGKILL") throw new Error("the restore was not interrupted");
      times.push(
        await elapsed(async () => {
          await using workspace = await findWorkspace(root, { home });
          if (workspace.notices.length === 0) throw new Error("nothing was recovered");
        }),
      );
    }
    return rowOf(row, median(times));
  }

  /** Of text as programs are made of. */
  async compression(): Promise<Row> {
    const { root, home } = this.#project();
    const [files, lines] = [50, 400];
    for (let file = 0; file < files; file += 1) {
      const text = Array.from(
        { length: lines },
        (_, at) => `export const value${at} = compute(${file}, ${at});\n`,
      );
      writeFileSync(join(root, `${file}.ts`), text.join(""));
    }
    const raw = diskBytes(root);
    await using workspace = await openWorkspace(root, { home });
    await workspace.upkeep.gc();
    const stored = diskBytes(home) - RESERVE_BYTES;
    return {
      work: `compression of ${mib(raw)} of text`,
      files,
      belay: mib(stored),
      git: "",
      ratio: `${(raw / stored).toFixed(2)} ×`,
      budget: "≥ 1 ×",
      holds: stored <= raw,
    };
  }

  async #timed(
    row: Target,
    round: (on: { workspace: Workspace; write: (files: number) => void }) => Promise<number>,
  ): Promise<Row> {
    const { root, home, write } = this.#project();
    await using workspace = await openWorkspace(root, { home });
    const times: number[] = [];
    for (let at = 0; at < this.#rounds; at += 1) times.push(await round({ workspace, write }));
    return rowOf(row, median(times));
  }

  #project() {
    const base = join(this.#place, String((this.#number += 1)));
    const [root, home] = [join(base, "project"), join(base, "home")];
    mkdirSync(root, { recursive: true });
    const write = (files: number) => {
      for (let file = 0; file < files; file += 1)
        writeFileSync(join(root, `${file}.bin`), randomBytes(FILE_BYTES));
    };
    return { root, home, write };
  }
}

function rowOf({ work, files, mostMs }: Target, value: number): Row {
  return {
    work,
    files,
    belay: ms(value),
    git: "",
    ratio: "",
    budget: `< ${mostMs} ms`,
    holds: value < mostMs,
  };
}

async function elapsed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function spawnCrasher(root: string, home: string): { signal: string | null } {
  try {
    execFileSync(process.execPath, [CRASHER, root, home], { stdio: "ignore", timeout: 60_000 });
    return { signal: null };
  } catch (error) {
    return { signal: (error as { signal?: string | null }).signal ?? null };
  }
}
