/** `belay remote keys`: the members of a space, their roles, and the secret that they share. */
import type { Workspace } from "@belay/engine";
import type { ListedMember, SpaceMembers } from "@belay/remote";
import { EXIT, usageError } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";
import { confirm, declined } from "../call/confirmation.ts";
import { table } from "../output/table.ts";
import { visible } from "../output/visible.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";
import { keepRecoveryKey, requireRecoveryFile } from "./recovery-file.ts";
import { roleOf } from "./space-passes.ts";

/** The call of `belay remote keys`. */
export type KeysCall = Pick<Call, "directory" | "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: {
    readonly remote?: string;
    readonly role?: string;
    readonly name?: string;
    readonly recovery?: boolean;
    readonly "recovery-file"?: string;
    readonly rewrite?: boolean;
    readonly yes?: boolean;
  };
};

type KeysWay = (call: KeysCall, members: SpaceMembers, subject: string) => Promise<number>;

const WAYS: Readonly<Record<string, { readonly subject: boolean | null; readonly run: KeysWay }>> = {
  list: { subject: false, run: listMembers },
  add: { subject: null, run: addMember },
  remove: { subject: true, run: removeMember },
};

/** Shows or changes the members of a space. */
export async function spaceKeys(call: KeysCall, workspace: Workspace): Promise<number> {
  const [verb = "list", subject = "", ...rest] = call.operands;
  if (verb === "recover" && subject === "") return recover(call, workspace);
  if (verb === "rotate" && subject === "") {
    const { rotateSecret } = await import("./rotate-secret.ts");
    return rotateSecret(call, workspace);
  }
  const way = Object.hasOwn(WAYS, verb) ? WAYS[verb] : undefined;
  const isFit = way?.subject === null || way?.subject === (subject !== "");
  if (way === undefined || !isFit || rest.length > 0)
    throw usageError(
      `\`belay remote keys ${[verb, subject].join(" ").trim()}\` is not possible.`,
      "There are list, add <identity>, add --recovery, remove <member>, rotate and recover.",
    );
  const { openMembers } = await import("@belay/remote");
  return way.run(call, openMembers(workspace, call.options.remote, await createRemoteHost(call)), subject);
}

async function listMembers(call: KeysCall, members: SpaceMembers): Promise<number> {
  const { ownIdentity } = await import("@belay/remote");
  const { generation, members: all } = await members.list();
  const identity = ownIdentity(call.home) ?? null;
  if (call.json)
    call.output.json({
      remote: members.entry.name,
      space: members.entry.space,
      fingerprint: members.entry.fingerprint,
      generation,
      identity,
      members: all.map(memberJson),
    });
  else
    call.output.print(
      membersText(call, all, { generation, fingerprint: members.entry.fingerprint, identity }),
    );
  return EXIT.done;
}

/** A member as `--json` prints it. */
function memberJson({ until, ...facts }: ListedMember): Record<string, unknown> {
  return { ...facts, until: until === null ? null : new Date(until).toISOString() };
}

function membersText(
  { output }: KeysCall,
  members: readonly ListedMember[],
  space: { readonly generation: number; readonly fingerprint: string; readonly identity: string | null },
): string {
  const { style } = output;
  const rows = members.map(({ id, name, role, isOwn, until }) => [
    { text: id.slice(0, 8), paint: style.dim },
    { text: visible(name), paint: style.bold },
    { text: role },
    { text: isOwn ? "this machine" : until === null ? "" : `until ${new Date(until).toISOString()}` },
  ]);
  return [
    table(rows, { width: output.width, flexible: 1 }),
    "",
    `key generation ${space.generation}, fingerprint ${space.fingerprint.slice(0, 16)}`,
    ...(space.identity === null ? [] : [`this machine: ${space.identity}`]),
  ].join("\n");
}

async function addMember(call: KeysCall, members: SpaceMembers, identity: string): Promise<number> {
  if (call.options.recovery === true) return addRecoveryKey(call, members);
  const role = await roleOf(call.options.role, "member");
  if (identity === "" || call.options.name === undefined)
    throw usageError(
      "Give the identity of the machine and a name for it.",
      "belay remote keys add belay-member-1.… --name ana@laptop --role member",
    );
  const added = await members.add(identity, { name: call.options.name, role });
  if (call.json) call.output.json({ added: memberJson(added) });
  else
    call.output.print(
      `${visible(added.name)} is a ${role} of the space now. There, \`belay remote add\` joins it.`,
    );
  return EXIT.done;
}

async function addRecoveryKey(call: KeysCall, members: SpaceMembers): Promise<number> {
  const { formatRecoveryKey, REAL_SURROUNDINGS } = await import("@belay/remote");
  const seed = REAL_SURROUNDINGS.random(30);
  const file = call.options["recovery-file"];
  if (!(await keepRecoveryKey(call, formatRecoveryKey(seed), file))) return declined(call);
  await members.addRecoveryKey(seed);
  if (call.json) call.output.json({ recoveryKey: true });
  else call.output.print("The space has a new recovery key.");
  return EXIT.done;
}

async function removeMember(call: KeysCall, members: SpaceMembers, wanted: string): Promise<number> {
  const question = `${KEPT}\nRemove ${visible(wanted)} from the space?`;
  if (call.options.yes !== true && !(await confirm(call, question))) return declined(call);
  const removed = await members.remove(wanted);
  const { generation } = await members.list();
  if (call.json) call.output.json({ removed: memberJson(removed), generation, kept: KEPT });
  else
    call.output.print(
      `${visible(removed.name)} is removed; what comes is encrypted with a new key (generation ${generation}).\n${KEPT}`,
    );
  return EXIT.done;
}

const KEPT =
  "What a removed member could read before, it may have kept. Take its access to the server away too; until then it can still write there, and no reader takes it.";

async function recover(call: KeysCall, workspace: Workspace): Promise<number> {
  const { recoverMembership } = await import("@belay/remote");
  const recoveryKey = requireRecoveryFile(call, call.options["recovery-file"]);
  const request = { name: call.options.remote, recoveryKey };
  const entry = await recoverMembership(workspace, request, await createRemoteHost(call));
  if (call.json) call.output.json({ remote: entry.name, role: "admin" });
  else call.output.print(`This machine is an admin of ${visible(entry.name)} again.`);
  return EXIT.done;
}
