/** Ids are 16 letters k–z: never mistaken for a number, a hash or a word with other letters. */
import { randomBytes } from "node:crypto";

declare const idBrand: unique symbol;
type Id<Of extends string> = string & { readonly [idBrand]: Of };

export type CheckpointId = Id<"checkpoint">;
export type ThreadId = Id<"thread">;
export type OperationId = Id<"operation">;
export type WorkspaceId = Id<"workspace">;

/** Where fresh ids come from; tests pass a predictable one. */
export type IdSource = () => string;

const FIRST_LETTER = "k".charCodeAt(0);

export const randomId: IdSource = () => {
  let id = "";
  for (const byte of randomBytes(8)) {
    id += String.fromCharCode(FIRST_LETTER + (byte >> 4), FIRST_LETTER + (byte & 15));
  }
  return id;
};

/** True for a whole id. */
export function isId(text: string): boolean {
  return /^[k-z]{16}$/.test(text);
}

/** True for what may be the beginning of an id. */
export function isIdPrefix(text: string): boolean {
  return /^[k-z]{1,16}$/.test(text);
}

/** A checkpoint by id, id prefix, name, tag, seq, "@", "@-2", message id or tool-use id. */
export type CheckpointRef = string;
