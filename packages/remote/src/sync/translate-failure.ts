/** What goes wrong with a remote, as the contract reports it: what happened, what is untouched. */
import { ContractError } from "@belay/protocol/errors";
import { DamageError, NewerFormatError } from "../parcel/damage.ts";
import { RemoteFailure, type FailureKind } from "../stores/remote-store.ts";
import { LineTaken } from "./line-taken.ts";
import { LineDamage } from "./read-line.ts";

const CODES = {
  unknown: "REMOTE_UNREACHABLE",
  unreachable: "REMOTE_UNREACHABLE",
  denied: "REMOTE_DENIED",
  full: "REMOTE_FULL",
  missing: "REMOTE_UNFIT",
  unsupported: "REMOTE_UNFIT",
} as const satisfies Record<FailureKind, string>;

const DAMAGE_CODES = {
  missing: "REMOTE_INCOMPLETE",
  damaged: "REMOTE_DAMAGED",
  forged: "REMOTE_DAMAGED",
  "rolled-back": "REMOTE_ROLLED_BACK",
} as const satisfies Record<LineDamage["kind"], string>;

/** Any error of this package as one of the contract; others stay as they are. */
function translateFailure(error: unknown): unknown {
  if (error instanceof RemoteFailure)
    return new ContractError(
      CODES[error.kind],
      `${capital(error.message)} Nothing was changed on this machine.`,
      {
        facts: { reason: error.kind },
      },
    );
  // [T4] what is not a push does not begin a new line by itself
  if (error instanceof LineTaken)
    return new ContractError(
      "LINE_FORKED",
      "A copy of this store, or an admin who adopted it, writes the line of this workspace now. Nothing was changed.",
      { facts: { line: error.line } },
    );
  if (error instanceof LineDamage)
    return new ContractError(DAMAGE_CODES[error.kind], `${error.key}: ${error.message}. It was not used.`, {
      facts: { key: error.key },
    });
  if (error instanceof DamageError)
    return new ContractError("REMOTE_DAMAGED", `The remote is damaged: ${error.message}. It was not used.`);
  if (error instanceof NewerFormatError)
    return new ContractError("REMOTE_NEWER", `The remote holds ${error.message}. Nothing was changed.`);
  return error;
}

/** Runs work and reports its failures as the contract does. */
export async function translating<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw translateFailure(error);
  }
}

function capital(text: string): string {
  // an address is written as it is typed
  const isAddress = /^\S*[.:/]/.test(text);
  const sentence = isAddress ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`;
}
