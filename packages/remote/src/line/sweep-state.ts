/**
 * What a sweep says: which objects are condemned and since when, and which are being deleted. Each sweep has the whole
 * state, so that the newest one is enough. Times are the server's.
 */
import type { MemberKeys } from "../keys/key-pairs.ts";
import { DamageError, expectSound } from "../parcel/damage.ts";
import { OpenParcel, sealValue, type SpaceSecret } from "../parcel/parcel.ts";

/** The state of sweeping after one sweep. */
export interface SweepState {
  readonly number: number;
  readonly at: number;
  /** The member whose key signed it. */
  readonly member: string;
  /** Keys that no line names, and since when that is known. */
  readonly condemned: Readonly<Record<string, number>>;
  /** Keys that are deleted or will be: never used again, whatever became of the request [T7]. */
  readonly deleting: Readonly<Record<string, number>>;
  /** Keys among the condemned that do not wait: they held what was forgotten. */
  readonly hurried: readonly string[];
}

/** Before the first sweep. */
export const NO_SWEEP: SweepState = {
  number: 0,
  at: 0,
  member: "",
  condemned: {},
  deleting: {},
  hurried: [],
};

/** The bytes of a sweep. */
export function sealSweep(
  state: SweepState,
  sealing: {
    readonly key: string;
    readonly secret: SpaceSecret;
    readonly salt: Buffer;
    readonly signer: MemberKeys;
  },
): Buffer {
  const { signer, ...rest } = sealing;
  return sealValue(state, { kind: "sweep", ...rest, signer: signer.sign });
}

/** Opens a sweep; its signature is not checked yet. */
export function openSweep(
  bytes: Buffer,
  { key, number, secret }: { readonly key: string; readonly number: number; readonly secret: SpaceSecret },
): { readonly state: SweepState; readonly parcel: OpenParcel } {
  const parcel = new OpenParcel(bytes, { key, kind: "sweep", secret });
  const state = toState(Buffer.concat(parcel.rawFrames("records", bytes)).toString("utf8"));
  expectSound(state.number === number, "the sweep has another number than its key");
  return { state, parcel };
}

function toState(text: string): SweepState {
  let state: Partial<SweepState>;
  try {
    state = JSON.parse(text) as Partial<SweepState>;
  } catch (cause) {
    throw new DamageError("the sweep is not JSON", { cause });
  }
  const { condemned, deleting, hurried } = state;
  const isState =
    typeof state.member === "string" &&
    typeof condemned === "object" &&
    condemned !== null &&
    typeof deleting === "object" &&
    deleting !== null &&
    Array.isArray(hurried);
  expectSound(isState, "the sweep has another shape");
  return state as SweepState;
}
