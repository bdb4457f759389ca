/**
 * Proves, by compiling, that every error of the engine has a row in the contract's table and every hint gets
 * its facts.
 */
import type { ErrorCode, ErrorFacts } from "@belay/engine";
import { ERRORS, type ErrorRow } from "@belay/protocol/errors";

/** The engine's part of the table, with the engine's types. */
export const ENGINE_ERRORS: { readonly [Code in ErrorCode]: ErrorRow<ErrorFacts[Code]> } = ERRORS;
