/**
 * The power fails during checkpoints and restores: what was acknowledged is there, and nothing that was only
 * on disk is lost.
 */
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { openWorkspace } from "../../packages/engine/src/index.ts";
import { expectVerified } from "../../packages/engine/test/support/fault-check.ts";
import { makeDirectory } from "../../packages/engine/test/support/place.ts";
import { canMount } from "../../packages/engine/test/support/project.ts";
import { describeFile } from "../../packages/engine/test/support/tree-map.ts";
import { readCheckpointMap } from "../../packages/engine/test/support/workspace-model.ts";
import type { Suite } from "../suite.ts";

const WORKER = join(import.meta.dirname, "..", "power-worker.ts");
const CUTTER = join(import.meta.dirname, "..", "power-cut.c");
/** The least that xfs takes; the image has holes. */
const IMAGE_BYTES = 320 * 1024 * 1024;
const CUTS_A_ROUND = 10;
const LONGEST_MS = 1200;

/** File systems, and what is cut off: they themselves, or the disk below those that cannot be. */
const FORMATS: Readonly<Record<string, "file system" | "disk">> = {
  ext4: "file system",
  xfs: "file system",
  btrfs: "disk",
};

const available = Object.keys(FORMATS).filter(
  (name) => spawnSync(`mkfs.${name}`, ["-V"], { stdio: "ignore" }).error === undefined,
);

export const power: Suite = {
  name: "power",
  unit: "power cuts",
  goal: 200,
  short: 3,
  missing: () =>
    canMount && available.length > 0 ? undefined : "no file system on a loop device can be mounted here",
  leftOut: () =>
    Object.keys(FORMATS)
      .filter((name) => !available.includes(name))
      .map((name) => `${name} (no mkfs.${name})`)
      .join(", ") || undefined,
  async round(round) {
    for (const format of available) {
      const machine = new Machine(format);
      try {
        for (let cut = 0; cut < CUTS_A_ROUND && !round.isOver; cut += 1) {
          await machine.runUntilCut(20 + round.random.below(LONGEST_MS));
          await machine.expectAcknowledged();
          round.count(format);
        }
      } finally {
        machine.remove();
      }
    }
  },
};

interface Fact {
  readonly id?: string;
  readonly content?: string;
  readonly written?: string;
}

/** A disk whose power can be cut, with a workspace and its store on it. */
class Machine {
  readonly #base = makeDirectory("belay-power-");
  readonly #image = join(this.#base, "image");
  readonly #disk = join(this.#base, "disk");
  readonly #log = join(this.#base, "log");
  readonly #root = join(this.#disk, "root");
  readonly #home = join(this.#disk, "home");
  readonly #format: string;
  #isMounted = false;

  constructor(format: string) {
    this.#format = format;
    writeFileSync(this.#image, "");
    truncateSync(this.#image, IMAGE_BYTES);
    execFileSync(`mkfs.${format}`, ["-q", this.#image], { stdio: "ignore" });
    execFileSync("cc", ["-o", join(this.#base, "power-cut"), CUTTER]);
    mkdirSync(this.#disk);
    this.#mount();
    mkdirSync(this.#root);
    execFileSync("sync", ["-f", this.#disk]);
    writeFileSync(this.#log, "");
  }

  async runUntilCut(ms: number): Promise<void> {
    const first = String(this.#facts().length);
    const worker = spawn(process.execPath, [WORKER, this.#root, this.#home, this.#log, first], {
      stdio: "ignore",
    });
    const ended = new Promise((resolve) => worker.on("close", resolve));
    const lines = this.#facts().length;
    while (this.#facts().length === lines && worker.exitCode === null) await sleep(5);
    await sleep(ms);
    const whole = FORMATS[this.#format] === "disk" ? this.#loopDevice() : this.#disk;
    execFileSync(join(this.#base, "power-cut"), [whole]);
    worker.kill("SIGKILL");
    await ended;
    execFileSync("umount", [this.#disk]);
    this.#isMounted = false;
    this.#mount();
  }

  async expectAcknowledged(): Promise<void> {
    await using workspace = await openWorkspace(this.#root, { home: this.#home });
    await expectVerified(workspace);
    const saved = new Map<string, string | undefined>();
    for (const { id } of await workspace.list())
      saved.set(id, (await readCheckpointMap({ workspace }, id)).get("file"));
    for (const { id, content } of this.#facts()) {
      if (id !== undefined)
        assert.equal(saved.get(id), describeFile(0o644, Buffer.from(content!)), `checkpoint ${id}`);
    }
    const last = this.#facts().findLast(({ written }) => written !== undefined)?.written;
    if (last === undefined) return;
    // N0: a restore takes the file away; whatever else became of it was the disk's doing
    const isSaved = [...saved.values()].includes(describeFile(0o644, Buffer.from(last)));
    assert.ok(isSaved || existsSync(join(this.#root, "file")), `${last.slice(0, 40)} is nowhere`);
    appendFileSync(this.#log, "{}\n");
  }

  #loopDevice(): string {
    return execFileSync("losetup", ["-j", this.#image], { encoding: "utf8" }).split(":")[0]!;
  }

  /** A line may be cut off as well. */
  #facts(): Fact[] {
    const lines = readFileSync(this.#log, "utf8").split("\n").slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Fact);
  }

  #mount(): void {
    execFileSync("mount", ["-o", "loop", this.#image, this.#disk]);
    this.#isMounted = true;
  }

  remove(): void {
    if (this.#isMounted) execFileSync("umount", ["--lazy", this.#disk]);
    rmSync(this.#base, { recursive: true, force: true });
  }
}
