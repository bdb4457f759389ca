/**
 * [R2026] Whether a push fits the quotas of its space: of all, and of its member. What a space holds is asked for once in ten
 * minutes and counted on from there, so quotas are soft: machines that push at the same time may go over them together.
 */
import { policyOf } from "../space/policy.ts";
import type { Space } from "../space/space.ts";
import { writerOfLine } from "../space/writer-rights.ts";
import { RemoteFailure } from "../stores/remote-store.ts";
import type { Mirror } from "./mirror.ts";
import { readUsage } from "./space-usage.ts";

const FRESH_MS = 10 * 60_000;

/** What one push may still store. */
export class Room {
  readonly #space: Space;
  readonly #mirror: Mirror;
  readonly #now: () => number;
  readonly #line: string;
  /** Parcels are sent at the same time, and counted one after another. */
  #turn: Promise<void> = Promise.resolve();

  constructor({
    space,
    mirror,
    now,
    line,
  }: {
    readonly space: Space;
    readonly mirror: Mirror;
    readonly now: () => number;
    readonly line: string;
  }) {
    this.#space = space;
    this.#mirror = mirror;
    this.#now = now;
    this.#line = line;
  }

  /** Counts what is about to be stored; throws when it does not fit. Without a quota nothing is asked. */
  async take(bytes: number): Promise<void> {
    this.#turn = this.#turn.then(() => this.#take(bytes));
    return this.#turn;
  }

  async #take(bytes: number): Promise<void> {
    const { quotaBytes, memberQuotaBytes } = policyOf(this.#space);
    if (quotaBytes === null && memberQuotaBytes === null) return;
    const used = await this.#used();
    const expectRoom = (whose: string, held: number, quota: number | null) => {
      if (quota !== null && held + bytes > quota)
        throw new RemoteFailure(
          "full",
          `The quota of ${whose} is ${quota} bytes, of which ${held} are used; ${bytes} more do not fit.`,
        );
    };
    expectRoom("the space", used.space, quotaBytes);
    expectRoom("this member", used.member, memberQuotaBytes);
    this.#mirror.noteUsage({ ...used, space: used.space + bytes, member: used.member + bytes });
  }

  async #used(): Promise<ReturnType<Mirror["usage"]> & object> {
    const known = this.#mirror.usage();
    const age = this.#now() - (known?.at ?? 0);
    if (known !== undefined && age >= 0 && age < FRESH_MS) return known;
    const usage = await readUsage(this.#space);
    const own = writerOfLine(this.#space, { line: this.#line, member: this.#line });
    const member = usage.members.find((each) => each.member === own)?.bytes ?? 0;
    return { at: this.#now(), space: usage.bytes, member };
  }
}
