/**
 * What the rules left out of a snapshot, as an object. It is the same from one checkpoint to the next, so it
 * is stored once.
 */
import { pathFromBytes, pathToBytes } from "../model/byte-path.ts";
import type { ExcludedRoot } from "../model/checkpoint.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { EngineError } from "../model/errors.ts";

type Row = [path: string, rule: string];

/** Encodes the list without sizes: they change while everything else stays. */
export function encodeExcluded(excluded: readonly ExcludedRoot[]): Buffer {
  const rows = excluded.map(({ path, rule }): Row => [pathToBytes(path).toString("base64"), rule]);
  return Buffer.from(`belay excluded 1\n${JSON.stringify(rows)}`, "utf8");
}

/** Decodes what `encodeExcluded` wrote. */
export function decodeExcluded(bytes: Buffer, name: ObjectHash): ExcludedRoot[] {
  try {
    const rows = JSON.parse(bytes.toString("utf8").replace(/^belay excluded 1\n/, "")) as Row[];
    return rows.map(([path, rule]) => ({
      path: pathFromBytes(Buffer.from(path, "base64")),
      rule,
      bytes: null,
    }));
  } catch (error) {
    const message = `Object ${name.slice(0, 12)} of the store, a list of excluded paths, is damaged.`;
    throw new EngineError("OBJECT_CORRUPT", message, { object: name, checkpoints: [] }, error);
  }
}
