/**
 * [R112] Content that an operation displaced is made durable where people find it: in a checkpoint of its own, at its
 * path. The state before it is recorded again right after, or the next capture would take the difference for a change
 * in the working copy.
 */
import { lookUp } from "../diff/compare-trees.ts";
import { headCheckpoint } from "../history/checkpoints.ts";
import { ancestorPaths, type BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { NO_OBJECT } from "../model/object-hash.ts";
import type { Displaced, Edit } from "../model/plan.ts";
import type { ObjectSource } from "../store/object-store.ts";
import type { ObjectWriter } from "../store/object-writer.ts";
import type { Context } from "../capture/context.ts";
import { recordOnTop } from "../capture/record-on-top.ts";

/** A path and what another program had written there; the writer has the content. */
interface Stray {
  readonly path: BytePath;
  readonly entry: Entry;
}

/** Records strays: as many checkpoints as the path with the most versions has. */
export function saveDisplaced(
  context: Context,
  writer: ObjectWriter,
  { strays, during }: { strays: readonly Stray[]; during: string },
): Displaced[] {
  return layers(strays).flatMap((layer) => saveLayer(context, writer, { layer, during }));
}

function saveLayer(
  context: Context,
  writer: ObjectWriter,
  { layer, during }: { layer: ReadonlyMap<BytePath, Entry>; during: string },
): Displaced[] {
  const { store } = context;
  const base = headCheckpoint(store.db)!.snapshot;
  const edits = editsFor(store.objects, base, layer);
  const back = edits.map(({ path, from, to }) => ({ path, from: to, to: from })).reverse();
  const own = { request: { kind: "safety" as const }, madeBy: { step: null } };
  const { checkpoint } = recordOnTop(context, writer, {
    ...own,
    edits,
    description: `Written by another program meanwhile: ${during}`,
  });
  recordOnTop(context, writer, { ...own, edits: back, snapshot: base, description: `After that: ${during}` });
  return [...layer.keys()].map((path) => ({ path, checkpoint: checkpoint.id }));
}

/** Each path once in a layer. */
function layers(strays: readonly Stray[]): Map<BytePath, Entry>[] {
  const all: Map<BytePath, Entry>[] = [];
  for (const { path, entry } of strays) {
    let layer = all.find((each) => !each.has(path));
    if (layer === undefined) all.push((layer = new Map()));
    layer.set(path, entry);
  }
  return all;
}

const PLAIN_DIRECTORY: Entry = { kind: "directory", mode: 0o755, hash: NO_OBJECT };

/** The edits that put a layer on a snapshot, with the directories that it lacks. */
function editsFor(
  objects: ObjectSource,
  base: Parameters<typeof lookUp>[1],
  layer: ReadonlyMap<BytePath, Entry>,
): Edit[] {
  const missing = new Map<BytePath, Edit>();
  for (const directory of [...layer.keys()].flatMap(ancestorPaths)) {
    const from = lookUp(objects, base, directory).entry;
    if (from?.kind !== "directory") missing.set(directory, { path: directory, from, to: PLAIN_DIRECTORY });
  }
  const files = [...layer].map(([path, to]) => ({ path, from: lookUp(objects, base, path).entry, to }));
  return [...missing.values(), ...files];
}
