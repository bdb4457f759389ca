import { usageError } from "@belay/protocol/errors";
import { defineCommand, YES, type Call } from "../call/command.ts";
import type { Workspace } from "@belay/engine";
import { withWorkspace } from "../wiring/open-workspace.ts";

const OPTIONS = {
  "recovery-file": {
    type: "string",
    value: "file",
    about: "add: where the recovery key of a new space goes, or the key of the space that is there",
  },
  records: {
    type: "string",
    value: "url",
    about: "add: a PostgreSQL database for everything but content, which goes to the S3 server",
  },
  "lock-days": {
    type: "string",
    value: "n",
    about: "add: nothing that is stored can be taken away for so many days (needs a bucket with object lock)",
  },
  sample: {
    type: "string",
    value: "share",
    about: "verify: read so much of the content too, for example 5%",
  },
  full: { type: "boolean", about: "verify: read all content too" },
  repair: { type: "boolean", about: "verify: upload again, from this store, what is missing or damaged" },
  "dry-run": { type: "boolean", about: "gc: only say what would be condemned and deleted" },
  keep: {
    type: "string",
    value: "time",
    about: "policy: how long lines keep every checkpoint, for example 7d",
  },
  "keep-turns": { type: "string", value: "time", about: "policy: how long they keep turns and messages" },
  quota: {
    type: "string",
    value: "size",
    about:
      "policy: what the space may hold, for example 20G; a push that does not fit is refused; none takes it off",
  },
  "member-quota": { type: "string", value: "size", about: "policy: the same for each member" },
  remote: { type: "string", value: "name", about: "keys, adopt: which remote, where there are several" },
  role: {
    type: "string",
    value: "role",
    about: "invite, token, keys add: admin, collector, member, agent or reader",
  },
  expires: { type: "string", value: "time", about: "invite: how long it can be used; defaults to 7d" },
  ttl: { type: "string", value: "time", about: "token: how long it can be used; defaults to 2h" },
  name: {
    type: "string",
    value: "name",
    about: "token: what the line of the job is called; keys add: how the machine is called",
  },
  recovery: { type: "boolean", about: "keys add: a new recovery key" },
  rewrite: { type: "boolean", about: "keys rotate: encrypt again what is there, too" },
  delete: { type: "boolean", about: "remove: delete the whole space from its server, too, for everyone" },
  yes: { ...YES, about: "remove --delete, keys remove, keys rotate --rewrite, adopt: do not ask" },
} as const;

/** The call of `belay remote`. */
export type RemoteCall = Call<typeof OPTIONS>;

type Way = (call: RemoteCall, workspace: Workspace) => Promise<number>;

/** The ways of this command: how many operands each takes, the options that are for it, and its code. */
const WAYS: Readonly<
  Record<
    string,
    { operands: readonly [number, number]; options: readonly string[]; load: () => Promise<Way> }
  >
> = {
  list: {
    operands: [0, 0],
    options: [],
    load: async () => (await import("../command-parts/list-remotes.ts")).listRemotes,
  },
  add: {
    operands: [2, 2],
    options: ["recovery-file", "records", "lock-days"],
    load: async () => (await import("../command-parts/add-remote.ts")).addRemote,
  },
  lines: {
    operands: [0, 2],
    options: [],
    load: async () => (await import("../command-parts/remote-lines.ts")).listLines,
  },
  remove: {
    operands: [1, 1],
    options: ["delete", "yes"],
    load: async () => (await import("../command-parts/remove-remote.ts")).removeRemote,
  },
  verify: {
    operands: [0, 1],
    options: ["sample", "full", "repair"],
    load: async () => (await import("../command-parts/verify-remote.ts")).verifyRemote,
  },
  gc: {
    operands: [0, 1],
    options: ["dry-run"],
    load: async () => (await import("../command-parts/sweep-remote.ts")).sweepRemote,
  },
  policy: {
    operands: [0, 1],
    options: ["keep", "keep-turns", "quota", "member-quota"],
    load: async () => (await import("../command-parts/remote-policy.ts")).remotePolicy,
  },
  invite: {
    operands: [0, 1],
    options: ["role", "expires"],
    load: async () => (await import("../command-parts/space-passes.ts")).inviteMember,
  },
  token: {
    operands: [0, 1],
    options: ["role", "ttl", "name"],
    load: async () => (await import("../command-parts/space-passes.ts")).issueToken,
  },
  keys: {
    operands: [0, 2],
    options: ["remote", "role", "name", "recovery", "recovery-file", "rewrite", "yes"],
    load: async () => (await import("../command-parts/space-members.ts")).spaceKeys,
  },
  adopt: {
    operands: [1, 1],
    options: ["remote", "yes"],
    load: async () => (await import("../command-parts/adopt-line.ts")).adoptLine,
  },
};

export default defineCommand({
  usage:
    "remote [list] | remote lines [name] [line] | remote add <name> <url | invitation> [--records url] [--recovery-file file] [--lock-days n] | remote remove <name> [--delete] | remote verify [name] [--sample share | --full] [--repair] | remote gc [name] --dry-run | remote policy [name] [--keep time] [--keep-turns time] [--quota size] [--member-quota size] | remote invite [name] [--role role] [--expires time] | remote token [name] [--role agent | reader] [--ttl time] [--name name] | remote keys [list | add <identity> | add --recovery | remove <member> | rotate [--rewrite] | recover] | remote adopt <line> [--remote name]",
  about: [
    "Remotes keep the history of this directory on an S3-compatible server or in PostgreSQL, encrypted on this machine: the",
    "server learns sizes and times, nothing else. `add` makes a space at s3://<bucket>/<prefix>?endpoint=<url>&region=<region>",
    "or postgres://<user>@<host>/<database>/<prefix>, and gives you its recovery key, or joins the space that is there with its",
    "recovery key. Access comes from AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or a profile; PGPASSWORD or ~/.pgpass. `verify` proves what is stored: every line and its",
    "signatures, and whether all content is there. `lines` shows the lines of other machines, or the checkpoints of one, as",
    "the last `belay pull` found them. `remove` forgets a remote; what is stored there stays, unless an admin",
    "adds --delete, which deletes the whole space for everyone.",
    "`gc --dry-run` says what no line of the space needs any more; deleting it is not switched on in this version.",
    "`policy` shows and sets how long lines keep checkpoints on the server; a push that does not fit a quota is refused.",
    "`invite` prints a text that makes one more machine a member, once: `remote add <name> <invitation>` there (`-` reads",
    "it from stdin). `token` prints a text for jobs, as BELAY_TOKEN. `keys` shows and changes the members of the space.",
    "`adopt` takes over a line whose machine is gone: this one keeps it to the policy from then on, with its own pushes.",
  ].join("\n"),
  options: OPTIONS,
  operands: { min: 0, max: 3 },
  exits: {
    3: "refused, or a question is due: the recovery key",
    5: "the remote is damaged, or was rolled back",
    7: "the remote is of a newer Belay",
    8: "the remote cannot be used now; local work is unaffected",
  },
  examples: ["belay remote list"],
  run: async (call) => {
    const [name = "list", ...rest] = call.operands;
    const way = Object.hasOwn(WAYS, name) ? WAYS[name] : undefined;
    if (way === undefined)
      throw usageError(`There is no \`belay remote ${name}\`.`, `There are ${Object.keys(WAYS).join(", ")}.`);
    const [least, most] = way.operands;
    const senseless = Object.keys(call.options).find(
      (option) => option in OPTIONS && !way.options.includes(option),
    );
    if (rest.length < least || rest.length > most || senseless !== undefined)
      throw usageError(
        senseless === undefined
          ? `\`belay remote ${name}\` takes ${least === 2 ? "a name and an address" : name === "adopt" ? "the name or id of a line" : most > 0 ? "a name" : "no more words"}.`
          : `--${senseless} is not for \`belay remote ${name}\`.`,
        "`belay remote --help` shows what each is for.",
      );
    const run = await way.load();
    return withWorkspace(call, (workspace) =>
      run({ ...call, operands: rest, output: call.output }, workspace),
    );
  },
});
