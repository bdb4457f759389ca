/** [T8] What sweeps have condemned or deleted, as one push sees it: whether parcels that an index names can be relied on. */
import { SELF, WITHHELD, type Place } from "../line/object-index.ts";
import { idOf } from "../line/keys-of-space.ts";
import { lookAtSweeps, type SweepLook } from "./look-at-sweeps.ts";
import type { PushTarget } from "./push-target.ts";
import { LineDamage } from "./read-line.ts";

const HOUR_MS = 60 * 60 * 1000;
/** [T8] How much of the server's time may pass between an upload and the commit: half of what a sweep waits before it condemns. */
const FENCE_MS = 36 * HOUR_MS;

/** The sweeps that one push has seen. */
export class SweepsSeen {
  readonly #target: Pick<PushTarget, "space" | "mirror">;
  /** What the newest sweep said, where that was asked. */
  #look: SweepLook | undefined;
  constructor(target: Pick<PushTarget, "space" | "mirror">) {
    this.#target = target;
  }

  /** The newest sweep that this push has seen. */
  get newest(): number {
    return this.#look?.state.number ?? 0;
  }

  /** [T8] */
  async lookAgain(): Promise<SweepLook> {
    const { space, mirror } = this.#target;
    const look = await lookAtSweeps(space);
    const { number } = look.state;
    // [T15] an older one would not say what is condemned
    const seen = mirror.noteSweep(number);
    if (seen > number)
      throw new LineDamage(
        "rolled-back",
        space.names.sweep(seen),
        "a sweep that was seen is not there any more",
      );
    this.#look = look;
    return look;
  }

  /** What the server still has: an index may name what was lost before it could be repaired. */
  async presentParcels(): Promise<(parcel: string) => boolean> {
    const { store, names } = this.#target.space;
    const { isBanned } = await this.lookAgain();
    const there = new Set<string>();
    for await (const { key } of store.list(names.parcels)) there.add(idOf(key));
    return (parcel) => there.has(parcel) && !isBanned(parcel);
  }

  /**
   * [T8] What a segment names newly and a sweep may have taken. A sweep that deletes something condemned it before it listed the
   * lines. If it missed this segment in that list, then the look here, which comes later, shows the condemnation.
   */
  async lostSince(
    index: ReadonlyMap<string, Place>,
    { at, now }: { readonly at: number; readonly now: number },
  ): Promise<Set<string>> {
    const named = [...index].filter(([, { parcel }]) => parcel !== SELF && parcel !== WITHHELD);
    if (named.length === 0 || now - at <= FENCE_MS) return new Set();
    // [R2220] what was deleted long ago no sweep remembers, but it is not there
    const isThere = await this.presentParcels();
    return new Set(named.filter(([, { parcel }]) => !isThere(parcel)).map(([name]) => name));
  }
}
