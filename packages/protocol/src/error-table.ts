/**
 * Every error that Belay reports, in one table: its exit code, its HTTP status and its hint. The command
 * line, the HTTP API and MCP all use it. The engine owns the facts of its errors: `ENGINE_ERRORS` of the
 * server proves, by compiling, that no code is missing and every hint gets the facts it needs.
 */
import { API_ROWS } from "./api-errors.ts";
import { COMMAND_ROWS } from "./command-errors.ts";
import { ENGINE_ROWS } from "./engine-errors.ts";
import { REMOTE_ROWS } from "./remote-errors.ts";

/** The whole table. */
export const ERRORS = { ...ENGINE_ROWS, ...COMMAND_ROWS, ...REMOTE_ROWS, ...API_ROWS } as const;

/** The name of an error, as programs read it. */
export type ErrorName = keyof typeof ERRORS;

/** The errors that only a command has. */
export type CommandErrorName = keyof typeof COMMAND_ROWS;

/** The errors that only the HTTP API has. */
export type ApiErrorName = keyof typeof API_ROWS;
