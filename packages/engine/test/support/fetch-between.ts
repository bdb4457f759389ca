/** Brings a checkpoint of one store into another as a remote does, without one. */
import { zstdCompressSync } from "node:zlib";
import type { Checkpoint, ObjectHash, Workspace } from "../../src/index.ts";

/** The line that the other store writes. */
export const OTHER_LINE = "0".repeat(32);

/** Takes a checkpoint of `source` into `target`, or finds it there. */
export function fetchBetween(source: Workspace, target: Workspace, id: string): Checkpoint {
  const from = { origin: { remote: "team", line: OTHER_LINE }, id, ...recordsOf(source, id) };
  const known = target.exchange.fetched(from);
  if (known !== undefined) return known;
  using fetching = target.exchange.fetch(from, from);
  for (let missing = fetching.missing(); missing.length > 0; missing = fetching.missing())
    fetching.putPack(packOf(source, missing));
  return fetching.finish();
}

/** What a line says of a checkpoint. */
export function recordsOf(source: Workspace, id: string) {
  const { exchange } = source;
  if (exchange.remotes().length === 0) addTestRemote(source);
  const records = [...exchange.records("team", exchange.outboxEnd("team"))];
  const record = records.find((each) => each.kind === "checkpoint" && each.id === id)!;
  const parts = records.filter((each) => each.kind === "parts" && each.id.startsWith(`${id} `));
  const { base64 } = record.row["snapshot"] as { base64: string };
  const snapshot = Buffer.from(base64, "base64").toString("hex") as ObjectHash;
  return { record, parts, snapshot };
}

/** Nothing is ever sent there: everything waits in the outbox. */
export function addTestRemote({ exchange }: Workspace, line = OTHER_LINE): void {
  exchange.addRemote({
    name: "team",
    url: "s3://bucket/team",
    space: "space",
    fingerprint: "fingerprint",
    member: "member",
    line,
    began: null,
    abilities: "{}",
    segment: 0,
    segmentHash: null,
    createdAt: 0,
    pushedAt: null,
    pulledAt: null,
    problem: null,
  });
}

/** One pack of these objects. */
export function packOf({ exchange }: Workspace, hashes: readonly ObjectHash[]) {
  const stored = hashes.map((hash) => ({ hash, ...exchange.read(hash) }));
  let offset = 0;
  const objects = stored.map(({ hash, bytes, form }) => {
    offset += bytes.length;
    return { hash, offset: offset - bytes.length, size: bytes.length, form };
  });
  const raw = Buffer.concat(stored.map(({ bytes }) => bytes));
  return { data: zstdCompressSync(raw), rawBytes: raw.length, objects };
}
