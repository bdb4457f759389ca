/** The machine that a remote is used from. */
import type { RemoteStore } from "../stores/remote-store.ts";
import type { Surroundings } from "./surroundings.ts";

/** What this machine brings along. */
export interface RemoteHost {
  readonly home: string;
  /** How this machine and its user are named to other members. */
  readonly device: string;
  readonly user: string;
  readonly around: Surroundings;
  /** When what failed is tried again by itself, counted from the failure; undefined when it is not. */
  readonly retryMs?: number | undefined;
  /** The token of a job, which stands for a member where this machine has no keys of the space. */
  readonly token?: string | undefined;
  /** The server at an address, with the user's access to it. */
  readonly connect: (url: string) => RemoteStore;
}

/** How this machine is called in the list of members. */
export function memberName({ user, device }: RemoteHost): string {
  return `${user}@${device}`;
}
