/** A network between a machine and a server: requests and answers are slow, lost, late by days, and machines die. */
import type { SeededRandom } from "../../../engine/test/support/seeded-random.ts";
import {
  RemoteFailure,
  type PutOutcome,
  type RemoteStore,
  type StoredObject,
} from "../../src/stores/remote-store.ts";
import type { VirtualClock } from "./virtual-clock.ts";

/** The machine died in the middle of a request. */
export class MachineDied extends Error {}

const SECOND_MS = 1000;
const HOUR_MS = 3600 * SECOND_MS;
const LONGEST_STALL_MS = 300 * HOUR_MS;
/** Stalls are of all lengths: some end within what a look allows, some long after. */
const STALLS_MS = [8 * HOUR_MS, 70 * HOUR_MS, LONGEST_STALL_MS];

/** What happens to requests, in parts of a thousand. */
export interface Weather {
  readonly lostRequest: number;
  readonly lostAnswer: number;
  readonly late: number;
  readonly stall: number;
  readonly death: number;
}

interface Around {
  readonly clock: VirtualClock;
  readonly random: SeededRandom;
  readonly weather: Weather;
  /** Keeps a PUT back until the worst moment. */
  readonly hold?: ((key: string) => Promise<void>) | undefined;
}

/** One machine's way to the server. */
export class Network implements RemoteStore {
  readonly #server: RemoteStore;
  readonly #clock: VirtualClock;
  readonly #random: SeededRandom;
  readonly #weather: Weather;
  readonly #hold: ((key: string) => Promise<void>) | undefined;
  /** Requests that will arrive although their machine has given up. */
  readonly late: Promise<unknown>[] = [];

  constructor(server: RemoteStore, around: Around) {
    this.#server = server;
    this.#clock = around.clock;
    this.#random = around.random;
    this.#weather = around.weather;
    this.#hold = around.hold;
  }

  async put(key: string, bytes: Buffer, how: { readonly createOnly: boolean }): Promise<PutOutcome> {
    const copy = Buffer.from(bytes);
    await this.#hold?.(key);
    return this.#send(() => this.#server.put(key, copy, how));
  }

  get(key: string, range?: { readonly from: number; readonly length: number }) {
    return this.#send(() => this.#server.get(key, range), true);
  }

  async *list(prefix: string, after?: string): AsyncIterable<StoredObject> {
    const all = await this.#send(async () => {
      const found: StoredObject[] = [];
      for await (const object of this.#server.list(prefix, after)) found.push(object);
      return found;
    }, true);
    yield* all;
  }

  /** Each key is a request: a machine may die between two. */
  async remove(keys: readonly string[]): Promise<void> {
    for (const key of keys) await this.#send(() => this.#server.remove([key]));
  }

  async #send<Result>(work: () => Promise<Result>, isReading = false): Promise<Result> {
    const { lostRequest, lostAnswer, late, stall, death } = this.#weather;
    const chance = this.#random.below(1000);
    let bound = 0;
    const isIt = (share: number) => chance < (bound += share);
    await this.#clock.sleep(this.#random.below(SECOND_MS));
    if (isIt(stall)) await this.#clock.sleep(this.#random.below(this.#random.pick(STALLS_MS)));
    else if (isIt(death)) {
      if (this.#random.below(2) === 0 && !isReading) await work();
      throw new MachineDied();
    } else if (isIt(lostRequest)) return this.#giveUp();
    else if (isIt(lostAnswer)) {
      await work();
      return this.#giveUp();
    } else if (isIt(late) && !isReading) {
      this.late.push(this.#clock.sleep(this.#random.below(LONGEST_STALL_MS)).then(work));
      return this.#giveUp();
    }
    const answer = await work();
    await this.#clock.sleep(this.#random.below(SECOND_MS));
    return answer;
  }

  async #giveUp(): Promise<never> {
    await this.#clock.sleep(30 * SECOND_MS);
    throw new RemoteFailure("unknown", "no answer");
  }
}
