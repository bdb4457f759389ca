/**
 * One pass of the collector: finds what no line names, and deletes it in two looks 72 hours apart, by the server's clock
 * [T6, T7]. It reads lists of parcels, no trees and no content. Interrupted anywhere, the next sweep goes on.
 *
 * A push that names what it did not upload just now looks at the newest sweep after its commit, and sends again what is condemned
 * there [T8]. So what is condemned at one look, and named by no line at another 72 hours later, is relied on by none ever again.
 *
 * What a base forgot does not wait for those 72 hours: the look after the one that condemned it deletes it [R1812]. It must be
 * older than any use that does not look again after its commit.
 */
import { ContractError } from "@belay/protocol/errors";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { spanIn, type Span } from "../line/keys-of-space.ts";
import { sealSweep, type SweepState } from "../line/sweep-state.ts";
import { presentSecret, type Space } from "../space/space.ts";
import type { StoredObject } from "../stores/remote-store.ts";
import { newestSweep, serverTime } from "./look-at-sweeps.ts";
import { readUses, type Uses } from "./read-uses.ts";

const HOUR_MS = 60 * 60 * 1000;
/** How long a key is condemned, and how old it is before it can be. */
const GRACE_MS = 72 * HOUR_MS;
/** [R1812] So old is what held something forgotten before it goes: longer than the fences of a push (36 and 24 hours). */
const HURRY_AGE_MS = 48 * HOUR_MS;
/** How long the state remembers what was deleted, and sweeps are kept. */
const MEMORY_MS = 90 * 24 * HOUR_MS;

/** What a sweep did, or with `isDryRun` would do. */
export interface SweepReport {
  readonly sweep: number;
  readonly condemned: number;
  readonly pardoned: number;
  readonly deleted: number;
  readonly bytesFreed: number;
  /** How many of the condemned held what was forgotten: the next sweep deletes them. */
  readonly hurried: number;
  readonly dryRun: boolean;
}

/** How to sweep. */
export interface Sweeping {
  readonly keys: MemberKeys;
  readonly random: (bytes: number) => Buffer;
  readonly isDryRun: boolean;
}

/** Sweeps a space once: condemns, pardons and deletes. */
export async function sweepSpace(space: Space, sweeping: Sweeping): Promise<SweepReport> {
  const { store } = space;
  const lock = store.lock === undefined ? undefined : await store.lock(`sweep ${space.id}`);
  if (store.lock !== undefined && lock === undefined) throw busy();
  try {
    const before = await newestSweep(space);
    const now = await serverTime(space);
    const found = await findUnnamed(space, before, now);
    const next = judge(before, found, { now, member: sweeping.keys.id });
    const gone = found.stored.filter(({ key }) => Object.hasOwn(next.deleting, key));
    const report = {
      sweep: next.number,
      condemned: Object.keys(next.condemned).filter((key) => !Object.hasOwn(before.condemned, key)).length,
      pardoned: Object.keys(before.condemned).filter((key) => isPardoned(next, key)).length,
      deleted: gone.length,
      bytesFreed: gone.reduce((sum, { size }) => sum + size, 0),
      hurried: next.hurried.length,
      dryRun: sweeping.isDryRun,
    };
    if (sweeping.isDryRun) return { ...report, sweep: before.number };
    await putSweep(space, next, sweeping);
    // [T7] only after the state that says so is stored
    await store.remove(gone.map(({ key }) => key));
    await removeOldSweeps(space, next.number, now);
    return report;
  } finally {
    await lock?.[Symbol.asyncDispose]();
  }
}

function isPardoned({ condemned, deleting }: SweepState, key: string): boolean {
  return !Object.hasOwn(condemned, key) && !Object.hasOwn(deleting, key);
}

/** The next state: what is unnamed is condemned, what was so for 72 hours is deleted, what is named again is pardoned. */
function judge(
  before: SweepState,
  { named, unnamed, forgotten }: Pick<Found, "named" | "unnamed" | "forgotten">,
  { now, member }: { readonly now: number; readonly member: string },
): SweepState {
  const condemned: Record<string, number> = {};
  const deleting: Record<string, number> = {};
  // [R2220] what came too late and was never repaired is told from damage for good
  for (const [key, at] of Object.entries(before.deleting))
    if (now - at < MEMORY_MS || named.has(key)) deleting[key] = at;
  for (const key of unnamed) {
    if (Object.hasOwn(deleting, key)) continue;
    const since = before.condemned[key] ?? now;
    const isHurried = forgotten.has(key) && before.hurried.includes(key);
    if (now - since >= GRACE_MS || isHurried) deleting[key] = now;
    else condemned[key] = since;
  }
  const hurried = Object.keys(condemned).filter((key) => forgotten.has(key));
  return { number: before.number + 1, at: now, member, condemned, deleting, hurried };
}

interface Found {
  readonly stored: readonly StoredObject[];
  /** The parcels that some line names. */
  readonly named: ReadonlySet<string>;
  /** Old enough to be condemned, and named by no line. */
  readonly unnamed: ReadonlySet<string>;
  /** Those of them that held what was forgotten. */
  readonly forgotten: ReadonlySet<string>;
}

async function findUnnamed(space: Space, before: SweepState, now: number): Promise<Found> {
  const { store, names } = space;
  // parcels first: a line that is read later names at least what it named when they were listed
  const parcels = await collect(store.list(names.parcels));
  const segments = await collect(store.list(names.lines));
  const there = new Set(parcels.map(({ key }) => key).filter((key) => !Object.hasOwn(before.deleting, key)));
  const [named, given] = [new Set<string>(), new Set<string>()];
  const [covered, hidden]: [StoredObject[], StoredObject[]] = [[], []];
  for (const [line, objects] of byLine(segments)) {
    const swept = new SweptLine(space, { line, objects, there });
    for (const id of await swept.names()) named.add(names.parcel(id));
    for (const id of swept.forgets) given.add(names.parcel(id));
    covered.push(...swept.covered(now));
    hidden.push(...swept.hidden());
  }
  const unnamed = parcels.filter(({ key }) => !named.has(key));
  const old = unnamed.filter(({ modified }) => now - modified >= GRACE_MS);
  const forgotten = [...unnamed.filter(({ key }) => given.has(key)), ...hidden].filter(
    ({ modified }) => now - modified >= HURRY_AGE_MS,
  );
  return {
    stored: [...parcels, ...segments],
    named,
    unnamed: new Set([...old, ...covered, ...forgotten].map(({ key }) => key)),
    forgotten: new Set(forgotten.map(({ key }) => key)),
  };
}

interface Cover extends Span {
  readonly object: StoredObject;
}

interface LineObjects {
  readonly line: string;
  readonly objects: readonly StoredObject[];
  /** The keys of the parcels that are there. */
  readonly there: ReadonlySet<string>;
}

/** What one line names now, and which of its objects a fold restates. */
class SweptLine {
  readonly #space: Space;
  readonly #line: string;
  readonly #covers: readonly Cover[];
  readonly #there: ReadonlySet<string>;
  /** Folds that can be relied on: all they name is there. */
  readonly #sound: Cover[] = [];
  /** The sound base that leaves out what was forgotten. */
  #forgetting: Cover | undefined;
  /** The parcels that held what was forgotten. */
  forgets: readonly string[] = [];

  constructor(space: Space, { line, objects, there }: LineObjects) {
    this.#space = space;
    this.#line = line;
    this.#there = there;
    this.#covers = objects.flatMap((object) => {
      const span = spanIn(object.key);
      return span === undefined ? [] : [{ object, ...span }];
    });
  }

  /** [T6] The parcels that its newest segments and all its folds name that nothing restates. */
  async names(): Promise<Set<string>> {
    const named = new Set<string>();
    const folds = this.#covers
      .filter(({ from, to }) => to > from)
      .toSorted((a, b) => b.to - a.to || a.from - b.from || b.object.modified - a.object.modified);
    for (const fold of folds) {
      if (this.#sound.some((other) => isCovered(fold, other))) continue;
      const { uses, forgets, isTrue } = await this.#usesOf(fold);
      for (const id of uses) named.add(id);
      // [R1810] what another than the writer of the line put there restates nothing
      if (!isTrue || !uses.every((id) => this.#there.has(this.#space.names.parcel(id)))) continue;
      this.#sound.push(fold);
      if (forgets !== undefined) [this.#forgetting, this.forgets] = [fold, forgets];
    }
    for (const segment of this.#newestFirst()) {
      if (this.#isFolded(segment)) break;
      const { uses, isTrue } = await this.#usesOf(segment);
      for (const id of uses) named.add(id);
      if (isTrue) break;
    }
    return named;
  }

  /** What a base that forgets restates: it still holds what was forgotten. */
  hidden(): StoredObject[] {
    const base = this.#forgetting;
    if (base === undefined) return [];
    return this.#covers.filter((one) => isCovered(one, base)).map(({ object }) => object);
  }

  /** [T16] Objects that a stored fold restates, once it is old enough. */
  covered(now: number): StoredObject[] {
    return this.#covers
      .filter((one) =>
        this.#sound.some((fold) => isCovered(one, fold) && now - fold.object.modified >= GRACE_MS),
      )
      .map(({ object }) => object);
  }

  #isFolded(cover: Cover): boolean {
    return this.#sound.some((fold) => isCovered(cover, fold));
  }

  /** By the listing, not by a head. Lists of parcels only grow until a base: the last segment that counts names all. */
  #newestFirst(): Cover[] {
    return this.#covers.filter(({ from, to }) => from === to).toSorted((a, b) => b.to - a.to);
  }

  async #usesOf({ object, from, to }: Cover): Promise<Uses> {
    const uses = await readUses(this.#space, object, { line: this.#line, from, to });
    // another collector was quicker
    if (uses === undefined) throw busy();
    return uses;
  }
}

/** Whether a longer object restates another one, or a newer one does that restates the same segments [R2242]. */
function isCovered(one: Cover, fold: Cover): boolean {
  if (one === fold || fold.from > one.from || fold.to < one.to) return false;
  const isLonger = fold.to - fold.from > one.to - one.from;
  return isLonger || (fold.from < fold.to && fold.object.modified > one.object.modified);
}

async function putSweep(space: Space, state: SweepState, { keys, random }: Sweeping): Promise<void> {
  const { store, names } = space;
  const key = names.sweep(state.number);
  const bytes = sealSweep(state, { key, secret: presentSecret(space), salt: random(32), signer: keys });
  const put = await store.put(key, bytes, { createOnly: true });
  if (put.outcome !== "stored") throw busy();
}

async function removeOldSweeps({ store, names }: Space, newest: number, now: number): Promise<void> {
  const old: string[] = [];
  for await (const { key, modified } of store.list(names.sweeps))
    if (key !== names.sweep(newest) && now - modified > MEMORY_MS) old.push(key);
  await store.remove(old);
}

function byLine(segments: readonly StoredObject[]): Map<string, StoredObject[]> {
  const lines = new Map<string, StoredObject[]>();
  for (const object of segments) {
    const [, , line = ""] = object.key.split("/");
    lines.set(line, [...(lines.get(line) ?? []), object]);
  }
  return lines;
}

async function collect(listing: AsyncIterable<StoredObject>): Promise<StoredObject[]> {
  const all: StoredObject[] = [];
  for await (const object of listing) all.push(object);
  return all;
}

function busy(): ContractError {
  return new ContractError("STORE_BUSY", "Another machine is sweeping this space. Nothing was deleted.", {
    hint: "Try again later.",
  });
}
