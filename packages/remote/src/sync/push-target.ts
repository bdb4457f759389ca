/** What a push needs: the line, the server, and the world around. */
import type { Exchange, Selection } from "@belay/engine";
import type { MemberKeys } from "../keys/key-pairs.ts";
import type { Space } from "../space/space.ts";
import type { Abilities } from "../stores/probe.ts";
import type { Mirror } from "./mirror.ts";
import type { SyncStep } from "./progress.ts";
import type { Surroundings } from "./surroundings.ts";

/** What a push is about. */
export interface PushTarget {
  readonly exchange: Exchange;
  readonly space: Space;
  /** When the server was asked for the members of the space, by this machine's clock; defaults to when the push begins. */
  readonly lookedAt?: number | undefined;
  readonly mirror: Mirror;
  readonly keys: MemberKeys;
  readonly device: string;
  readonly abilities: Abilities;
  readonly around: Surroundings;
  /** The highest segments of other lines that this home has read. */
  readonly seen?: (() => Readonly<Record<string, number>>) | undefined;
  readonly progress?: ((step: SyncStep) => void) | undefined;
  /** Of a line that an admin restates: who wrote it. */
  readonly adopted?: AdoptedLine | undefined;
  /** The space as the server has it now. */
  readonly refreshed?: (() => Promise<Space>) | undefined;
  /** Only this is sent; what else waits goes on waiting. */
  readonly chosen?: Selection | undefined;
  /** Content up to this size rides inside the segment, so that an ordinary push is two requests. */
  readonly inlineBytes?: number;
  /** The line is folded after so many segments. */
  readonly foldSegments?: number;
}

/** [R2242] Who wrote a line that an admin restates. */
export interface AdoptedLine {
  readonly member: string;
  readonly name: string;
}

/** Eight letters that no other copy of a store has. */
export function lettersOf(random: Buffer): string {
  return [...random].map((byte) => String.fromCodePoint(97 + (byte % 26))).join("");
}
