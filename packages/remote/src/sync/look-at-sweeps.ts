/** [T8] A look at the newest sweep: what must not be used, and when that was seen, by the server's clock. */
import { numberIn } from "../line/keys-of-space.ts";
import { NO_SWEEP, openSweep, type SweepState } from "../line/sweep-state.ts";
import { readHeader } from "../parcel/parcel.ts";
import { secretFor, type Space } from "../space/space.ts";
import { judgeSignature } from "../space/writer-rights.ts";
import { LineDamage } from "./read-line.ts";

/** What a look showed. */
export interface SweepLook {
  readonly state: SweepState;
  /** The server's time, not later than what was seen. */
  readonly date: number;
  /** Whether a content parcel is condemned or was ever deleted. */
  isBanned(parcel: string): boolean;
}

/** Looks at the newest sweep of a remote. */
export async function lookAtSweeps(space: Space): Promise<SweepLook> {
  const date = await serverTime(space);
  const state = await newestSweep(space);
  return {
    state,
    date,
    isBanned: (parcel) => {
      const key = space.names.parcel(parcel);
      return Object.hasOwn(state.condemned, key) || Object.hasOwn(state.deleting, key);
    },
  };
}

/** The server's clock, by an object that every space has. */
export async function serverTime({ store, names }: Space): Promise<number> {
  const got = await store.get(names.roster(1), { from: 0, length: 1 });
  if (got === undefined) throw new LineDamage("missing", names.roster(1), "the first roster is gone");
  return got.date;
}

/** The state of a remote after its newest sweep. */
export async function newestSweep(space: Space): Promise<SweepState> {
  const { store, names } = space;
  let [number, at] = [0, 0];
  for await (const { key, modified } of store.list(names.sweeps)) {
    const found = numberIn(key) ?? 0;
    if (found > number) [number, at] = [found, modified];
  }
  if (number === 0) return NO_SWEEP;
  const key = names.sweep(number);
  const got = await store.get(key);
  if (got === undefined) throw new LineDamage("missing", key, "the newest sweep is gone");
  const { state, parcel } = openSweep(got.bytes, { key, number, secret: secretFor(space, got.bytes) });
  const verdict = judgeSignature(space, "sweep", {
    member: state.member,
    at,
    generation: readHeader(got.bytes).generation,
    isSignedBy: (signer) => parcel.isSignedBy(signer),
  });
  if (verdict !== "counts")
    throw new LineDamage("forged", key, "no collector of the space signed this sweep");
  return state;
}
