/**
 * Checkpoints and restores without end, until the power is cut. Records what was acknowledged, line by line,
 * in a file on another file system.
 */
import { appendFileSync, chmodSync, closeSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../packages/engine/src/index.ts";

const [root, home, log, first] = process.argv.slice(2) as [string, string, string, string];

/**
 * A sync that is under way when the power goes may report success: a record counts only if the disk still
 * takes changes.
 */
function say(fact: object): void {
  chmodSync(root, 0o755);
  appendFileSync(log, `${JSON.stringify(fact)}\n`);
}

const workspace = await openWorkspace(root, { home });
for (let number = Number(first); ; number += 1) {
  const content = `content ${number} `.repeat(1 + (number % 200));
  writeSynced(join(root, "file"), content);
  say({ written: content });
  if (number % 3 === 2) {
    const { safetyCheckpoint, outcome } = await workspace.restoreTo("1");
    say({ id: safetyCheckpoint, content, outcome });
  } else {
    const { checkpoint } = await workspace.checkpoint();
    say({ id: checkpoint.id, content });
  }
}

/** Unsynced content may be lost in a power cut; that is not a fault. */
function writeSynced(path: string, content: string): void {
  const descriptor = openSync(path, "w");
  writeSync(descriptor, content);
  fsyncSync(descriptor);
  closeSync(descriptor);
}
