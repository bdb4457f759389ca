/** The rows of the errors of remotes. */
import type { ErrorRow } from "./error-row.ts";
import { EXIT } from "./exit-code.ts";

const STAYS_QUEUED = "Local work is unaffected; what was to be sent stays queued for the next `belay push`.";

/** Errors of remotes. */
export const REMOTE_ROWS = {
  REMOTE_NOT_FOUND: { exit: EXIT.notFound, status: 404, hint: "`belay remote list` shows the remotes." },
  REMOTE_EXISTS: {
    exit: EXIT.refused,
    status: 409,
    hint: "`belay remote list` shows it; take another name, or remove it first.",
  },
  REMOTE_UNREACHABLE: { exit: EXIT.remote, status: 503, hint: STAYS_QUEUED },
  REMOTE_DENIED: {
    exit: EXIT.remote,
    status: 403,
    hint: `Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and what they may do. ${STAYS_QUEUED}`,
  },
  REMOTE_FULL: { exit: EXIT.remote, status: 507, hint: STAYS_QUEUED },
  REMOTE_UNFIT: {
    exit: EXIT.remote,
    status: 503,
    hint: "Check the address; the bucket must exist and its server must be S3-compatible.",
  },
  REMOTE_INCOMPLETE: {
    exit: EXIT.damaged,
    status: 422,
    hint: "`belay remote verify --repair`, on the machine that wrote it, uploads again what is missing.",
    list: ({ checkpoints = [] }: { readonly checkpoints?: readonly string[] }) => checkpoints,
  },
  REMOTE_DAMAGED: {
    exit: EXIT.damaged,
    status: 422,
    hint: "`belay remote verify --full` lists what is affected; `--repair` uploads it again where this machine has it.",
  },
  REMOTE_ROLLED_BACK: {
    exit: EXIT.damaged,
    status: 422,
    hint: "What this machine knows is kept. Ask the owner of the server what was restored there or deleted.",
  },
  REMOTE_NEWER: { exit: EXIT.newer, status: 409, hint: "Update Belay on this machine." },
  SPACE_KEY_MISSING: {
    exit: EXIT.refused,
    status: 409,
    hint: "Give the recovery key of the space with --recovery-file.",
  },
  INVITATION_UNUSABLE: {
    exit: EXIT.refused,
    status: 409,
    hint: "Ask an admin of the space for a new one: `belay remote invite`.",
  },
  TOKEN_UNUSABLE: {
    exit: EXIT.refused,
    status: 409,
    hint: "A member of the space makes a new one: `belay remote token`.",
  },
  MEMBER_NOT_FOUND: {
    exit: EXIT.notFound,
    status: 404,
    hint: "`belay remote keys list` shows the members of the space.",
  },
  SHARE_NOT_FOUND: { exit: EXIT.notFound, status: 404, hint: "`belay share --list` shows what is shared." },
  LINE_TAKEN: { exit: EXIT.refused, status: 409, hint: "`belay remote lines` shows the other lines." },
  LINE_FORKED: {
    exit: EXIT.refused,
    status: 409,
    hint: "`belay push` goes on as a line of its own, and sends everything there.",
  },
  ROLE_REQUIRED: {
    exit: EXIT.refused,
    status: 409,
    hint: "`belay remote keys list` shows the members of the space and their roles.",
  },
  SECRETS_FOUND: {
    exit: EXIT.refused,
    status: 409,
    hint: "Everything is encrypted before it leaves this machine. `belay push --yes` sends it; `belay forget <path>` removes a file from the history.",
    list: ({ places = [] }: { readonly places?: readonly string[] }) => places,
  },
} as const satisfies Readonly<Record<string, ErrorRow<never>>>;
