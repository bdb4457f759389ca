/**
 * Changes of the roster: who is a member, and the secret. Secrets are sealed first and the roster is written last, so that
 * a change that is interrupted has not happened. Create-only decides between two admins; the other looks again.
 */
import type { ForgetRequest } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { rawPublic, type MemberKeys } from "../keys/key-pairs.ts";
import type { OpenPass } from "../keys/pass.ts";
import type { SpaceSecret } from "../parcel/parcel.ts";
import type { RemoteStore } from "../stores/remote-store.ts";
import type { Policy } from "./policy.ts";
import { memberOf, sealRoster, type Member, type Roster } from "./roster.ts";
import { generationIn, isFirstToPut, openSpace, presentSecret, sealedTo, type Space } from "./space.ts";

type Random = (bytes: number) => Buffer;

/** Who changes the roster, with what chance. */
export interface Changing {
  readonly admin: MemberKeys;
  readonly random: Random;
}

/** Makes a key a member: every secret is sealed to it, so that it can read what is there already. */
export async function addMember(space: Space, member: Member, { admin, random }: Changing): Promise<Space> {
  const { members } = space.roster.roster;
  const others = members.filter(({ id }) => id !== member.id);
  await sealAll(space, member, random);
  await publish(space, { members: [...others, member] }, { admin, random });
  return openSpace(space.store, space.id, admin, space);
}

/** [R762] Takes a member out: what comes is sealed with a new secret, which it is not given. */
export async function removeMember(space: Space, id: string, changing: Changing): Promise<Space> {
  return rotate(
    space,
    space.roster.roster.members.filter((member) => member.id !== id),
    changing,
  );
}

/** Makes a new secret for what comes, for the members that there are. [R2245] With `isRewriting` what is there is to follow. */
export async function rotateSecret(space: Space, changing: Changing, isRewriting: boolean): Promise<Space> {
  return rotate(space, space.roster.roster.members, changing, isRewriting);
}

/** [R1815] Changes what the roster says about keeping and about room. */
export async function changePolicy(
  space: Space,
  policy: Partial<Policy>,
  { admin, random }: Changing,
): Promise<Space> {
  const { members, policy: before } = space.roster.roster;
  await publish(space, { members, policy: { ...before, ...policy } }, { admin, random });
  return openSpace(space.store, space.id, admin, space);
}

/** [R2027] Asks every machine to forget something. */
export async function askToForget(
  space: Space,
  request: ForgetRequest,
  { admin, random }: Changing,
): Promise<Space> {
  const forgets = { ...request, number: space.lastNumber + 1 };
  await publish(space, { members: space.roster.roster.members, forgets }, { admin, random });
  return openSpace(space.store, space.id, admin, space);
}

/** [R2240] Takes over a line: from now on this admin restates it, and its writer goes on as another one. */
export async function takeOver(space: Space, line: string, { admin, random }: Changing): Promise<Space> {
  const { members, adoptions = [] } = space.roster.roster;
  const others = adoptions.filter((adoption) => adoption.line !== line);
  await publish(space, { members, adoptions: [...others, { line, by: admin.id }] }, { admin, random });
  return openSpace(space.store, space.id, admin, space);
}

const TRIES = 5;

async function rotate(
  space: Space,
  members: readonly Member[],
  { admin, random }: Changing,
  isRewriting = false,
): Promise<Space> {
  const { store } = space;
  for (let left = TRIES; left > 0; left--) {
    const generation = (await newestGeneration(space)) + 1;
    const secret: SpaceSecret = { space: space.id, generation, secret: random(32) };
    if (!(await isSealedToAll(space, { members, secret, random }))) continue;
    const secrets = new Map([...space.secrets, [generation, secret]]);
    const change = { members, generation, ...(isRewriting && { rewrite: generation }) };
    await publish({ ...space, secrets }, change, { admin, random });
    return openSpace(store, space.id, admin, { secrets, rosters: space.rosters });
  }
  throw changedMeanwhile();
}

/** Numbers are never used twice: an interrupted change may have left secrets of the next one. */
async function newestGeneration({ store, names, roster }: Space): Promise<number> {
  let newest = roster.roster.generation;
  for await (const { key } of store.list(names.rosters)) newest = Math.max(newest, generationIn(key) ?? 0);
  return newest;
}

/** False when another admin made a secret of the same number at the same time. */
async function isSealedToAll(
  { store, names }: Space,
  sealing: { readonly members: readonly Member[]; readonly secret: SpaceSecret; readonly random: Random },
): Promise<boolean> {
  const { members, secret, random } = sealing;
  for (const member of members) {
    const key = names.sealedSecret(secret.generation, member.id);
    if (!(await isFirstToPut(store, key, sealedTo(member, { names, secret, random })))) return false;
  }
  return true;
}

/** Joins a space with an invitation: its holder adds one member to the roster, and signs with the key of the invitation. */
export async function acceptInvitation(
  store: RemoteStore,
  { keys: invited, certificate }: OpenPass,
  joining: {
    readonly own: MemberKeys;
    readonly name: string;
    readonly random: Random;
    /** The space as this home knows it already. */
    readonly known?: Space | undefined;
  },
): Promise<Space> {
  const { own, name, random, known } = joining;
  const space = await openSpace(
    store,
    certificate.space,
    invited,
    known?.id === certificate.space ? known : undefined,
  );
  if (space.fingerprint !== certificate.fingerprint)
    throw new ContractError(
      "REMOTE_ROLLED_BACK",
      "The space at that address is not the one that the invitation is for. Nothing was changed.",
      { facts: { space: space.id } },
    );
  const { members } = space.roster.roster;
  if (members.some(({ id }) => id === own.id)) return openSpace(store, space.id, own, space);
  if (space.rosters.some(({ roster }) => roster.accepts?.id === certificate.id))
    throw new ContractError(
      "INVITATION_UNUSABLE",
      "That invitation has already been used. Nothing was changed.",
      {
        facts: { reason: "used" },
      },
    );
  // readers would pass the roster over: by the server's clock, not by ours
  if (((await store.get(space.names.roster(1)))?.date ?? 0) > certificate.until)
    throw new ContractError("INVITATION_UNUSABLE", "That invitation has expired. Nothing was changed.", {
      facts: { reason: "expired" },
    });
  const { role, memberUntil } = certificate;
  const facts = { name, role, isRecovery: false, ...(memberUntil !== null && { until: memberUntil }) };
  const member = memberOf(own, facts);
  await sealAll(space, member, random);
  const change = { members: [...members, member], accepts: certificate };
  await publish(space, change, { admin: invited, random });
  return openSpace(store, space.id, own, space);
}

async function sealAll({ store, names, secrets }: Space, member: Member, random: Random): Promise<void> {
  for (const secret of secrets.values()) {
    const key = names.sealedSecret(secret.generation, member.id);
    await store.put(key, sealedTo(member, { names, secret, random }), { createOnly: false });
  }
}

/** Makes this machine an admin of a space that another admin's keys, such as the recovery key, opened. */
export async function joinSpace(
  space: Space,
  joining: { readonly admin: MemberKeys; readonly own: MemberKeys; readonly name: string },
  random: Random,
): Promise<Space> {
  const { admin, own, name } = joining;
  const present = space.roster.roster.members.find(({ id }) => id === own.id);
  if (present?.role !== "admin")
    await addMember(space, memberOf(own, { name, role: "admin", isRecovery: false }), { admin, random });
  return openSpace(space.store, space.id, own, space);
}

type RosterChange = Pick<Roster, "members"> &
  Partial<Pick<Roster, "generation" | "accepts" | "policy" | "forgets" | "adoptions" | "rewrite">>;

/** Writes the next roster; throws when another machine was first. */
async function publish(space: Space, change: RosterChange, { admin, random }: Changing): Promise<void> {
  const { names, store, roster, secrets } = space;
  const { accepts: _, format: __, signer: ___, ...before } = roster.roster;
  const number = space.lastNumber + 1;
  const facts = { ...before, ...change, number, previous: roster.hash };
  const secret = secrets.get(facts.generation) ?? presentSecret(space);
  const key = names.roster(number);
  const bytes = sealRoster(facts, { key, secret, salt: random(32), signer: admin });
  if (!(await isFirstToPut(store, key, bytes))) throw changedMeanwhile();
}

function changedMeanwhile(): ContractError {
  return new ContractError(
    "REMOTE_UNREACHABLE",
    "Another machine changed the members of the space just now. Nothing was changed.",
    { hint: "Run the command again." },
  );
}

const PUBLIC_KEY = /^belay-member-1\.([0-9a-f]{64})\.([0-9a-f]{64})$/;

/** The public keys of a machine as text: an admin adds it with them. They are no secret. */
export function publicIdentity({ sign, receive }: Pick<MemberKeys, "sign" | "receive">): string {
  return `belay-member-1.${rawPublic(sign).toString("hex")}.${rawPublic(receive).toString("hex")}`;
}

/** The public keys in such a text, in hexadecimal; undefined when it is another one. */
export function parsePublicIdentity(text: string): { sign: string; receive: string } | undefined {
  const [, sign, receive] = PUBLIC_KEY.exec(text.trim()) ?? [];
  return sign === undefined || receive === undefined ? undefined : { sign, receive };
}
