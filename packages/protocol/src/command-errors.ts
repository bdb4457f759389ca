/** The rows of the errors that only a command has. */
import type { ErrorRow } from "./error-row.ts";
import { EXIT } from "./exit-code.ts";

/** Errors of commands. Their hints depend on what was typed and come with the error. */
export const COMMAND_ROWS = {
  USAGE: { exit: EXIT.usage, status: 400, hint: "`belay --help` lists the commands." },
  CONFIRMATION_REQUIRED: {
    exit: EXIT.refused,
    status: 409,
    hint: "Add --yes to skip the question.",
  },
  PATH_NOT_KEPT_OUT: { exit: EXIT.notFound, status: 404, hint: "`belay status` lists what is." },
  CONVERSATION_NOT_FORKED: {
    exit: EXIT.refused,
    status: 409,
    hint: "Without --with-conversation, a restore changes only the files.",
  },
  NO_PARENT: {
    exit: EXIT.failed,
    status: 409,
    hint: "`belay export <checkpoint> --tar <file>` exports all its files.",
  },
  NOTHING_TO_IMPORT: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay import --help` lists what can be imported.",
  },
  OUTPUT_EXISTS: {
    exit: EXIT.refused,
    status: 409,
    hint: "Name a directory that does not exist yet.",
  },
  OUTPUT_FAILED: { exit: EXIT.failed, status: 500, hint: "Choose another place, or free some space." },
  AGENT_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay agents run -- <command>` runs any command; `agents.<name>.command` in config.json adds an agent.",
  },
  RESIDENT_FAILED: { exit: EXIT.failed, status: 500, hint: "`belay doctor` says more." },
  RESIDENT_RUNNING: { exit: EXIT.refused, status: 409, hint: "Use that one, or end it first." },
  PAUSED_EVERYWHERE: { exit: EXIT.refused, status: 409, hint: "`belay resume --all` ends that." },
  GHOST_IMPOSSIBLE: {
    exit: EXIT.refused,
    status: 409,
    hint: "Checkpoints are complete without it: `belay list` shows them.",
    apiHint: "Checkpoints are complete without it: GET /api/checkpoints lists them.",
  },
  INTERNAL: {
    exit: EXIT.failed,
    status: 500,
    hint: "This is a bug in Belay. Please report it with the lines above.",
  },
} as const satisfies Readonly<Record<string, ErrorRow<never>>>;
