/** Ids are 16 letters k–z: never mistaken for a number, a hash or a word with other letters. */
import { randomBytes } from "node:crypto";

declare const idBrand: unique symbol;
type Id<Of extends string> = string & { readonly [idBrand]: Of };

/** The id of a checkpoint. */
export type CheckpointId = Id<"checkpoint">;
/** The id of a thread. */
export type ThreadId = Id<"thread">;
/** The id of an operation in the log. */
export type OperationId = Id<"operation">;
/** The id of a workspace. */
export type WorkspaceId = Id<"workspace">;

/** The source of new ids; tests pass a predictable one. */
export type IdSource = () => string;

const FIRST_LETTER = "k".charCodeAt(0);

const ID_BYTES = 8;
/** A request for randomness takes longer than all the rest of an id: one serves many ids. */
let drawn = Buffer.alloc(0);

/** Generates a random id. */
export const randomId: IdSource = () => {
  if (drawn.length === 0) drawn = randomBytes(64 * ID_BYTES);
  let id = "";
  for (let at = 0; at < ID_BYTES; at += 1) {
    const byte = drawn[at]!;
    id += String.fromCharCode(FIRST_LETTER + (byte >> 4), FIRST_LETTER + (byte & 15));
  }
  drawn = drawn.subarray(ID_BYTES);
  return id;
};

/** Whether a text is a complete id of a checkpoint or another record. */
export function isId(text: string): boolean {
  return /^[k-z]{16}$/.test(text);
}

/** True for text that may be the beginning of an id. */
export function isIdPrefix(text: string): boolean {
  return /^[k-z]{1,16}$/.test(text);
}

/**
 * How callers name a checkpoint: id, id prefix, name, tag, seq, "@", "@-2", message id or tool-use id; by a turn, "T3",
 * "@turn" or "@turn-1"; by a time, "@10m", "@14:30" or "@yesterday".
 */
export type CheckpointRef = string;
