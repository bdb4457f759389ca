/** `belay remote invite` and `belay remote token`: texts that let another machine in. They are printed once, and kept nowhere. */
import type { Workspace } from "@belay/engine";
import type { MadePass, Role } from "@belay/remote";
import { EXIT, usageError } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";
import { parseDuration } from "../call/duration.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";

type PassCall = Pick<Call, "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: {
    readonly role?: string;
    readonly expires?: string;
    readonly ttl?: string;
    readonly name?: string;
  };
};

const INVITATION_TIME = "7d";
const TOKEN_TIME = "2h";

/** The role that an option names. */
export async function roleOf(word: string | undefined, otherwise: Role): Promise<Role> {
  const { isRole, ROLES } = await import("@belay/remote");
  const role = word ?? otherwise;
  if (isRole(role)) return role;
  throw usageError(`"${role}" is not a role. Nothing was changed.`, `There are ${ROLES.join(", ")}.`);
}

/** Prints an invitation. */
export async function inviteMember(call: PassCall, workspace: Workspace): Promise<number> {
  const role = await roleOf(call.options.role, "member");
  const members = await membersOf(call, workspace);
  const ttlMs = parseDuration(call.options.expires ?? INVITATION_TIME);
  const made = await members.invite({ role, ttlMs });
  const until = new Date(made.until).toISOString();
  await show(call, made, "invitation");
  call.output.note(
    `An invitation for one ${role}, until ${until}. Send it over a channel that only they read; there: belay remote add ${members.entry.name} <invitation>`,
  );
  return EXIT.done;
}

/** `belay remote token`: prints a token for a job. */
export async function issueToken(call: PassCall, workspace: Workspace): Promise<number> {
  const role = await roleOf(call.options.role, "agent");
  const members = await membersOf(call, workspace);
  const ttlMs = parseDuration(call.options.ttl ?? TOKEN_TIME);
  const made = await members.issueToken({ role, ttlMs, name: call.options.name });
  await show(call, made, "token");
  call.output.note(
    `A token for jobs as ${role}, until ${new Date(made.until).toISOString()}. Give it to the job as BELAY_TOKEN.`,
  );
  return EXIT.done;
}

async function membersOf(call: PassCall, workspace: Workspace) {
  const { openMembers } = await import("@belay/remote");
  return openMembers(workspace, call.operands[0], await createRemoteHost(call));
}

/** [T17] The one place where a pass is shown: everywhere else it is taken out as a secret. */
async function show(call: PassCall, { text, role, until, name }: MadePass, kind: string): Promise<void> {
  const facts = { [kind]: text, role, name, expiresAt: new Date(until).toISOString() };
  await call.output.raw(call.json ? `${JSON.stringify(facts, undefined, 2)}\n` : `${text}\n`);
}
