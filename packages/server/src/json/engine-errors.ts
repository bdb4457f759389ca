/** Every error of the engine has its row in the contract's table, and its hint gets the facts it needs: else this does not compile. */
import type { ErrorCode, ErrorFacts } from "@belay/engine";
import { ERRORS, type ErrorRow } from "@belay/protocol/errors";

/** The engine's part of the table, with the engine's types. */
export const ENGINE_ERRORS: { readonly [Code in ErrorCode]: ErrorRow<ErrorFacts[Code]> } = ERRORS;
