/**
 * A space: what the workspaces of several machines share. The keys of a member open it from the server alone;
 * what was learned is kept in the home, so that an ordinary push need not ask for it again.
 */
import { join } from "node:path";
import { ContractError } from "@belay/protocol/errors";
import { hpkeOpen, hpkeSeal } from "../keys/hpke.ts";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { numberIn, SpaceNames } from "../line/keys-of-space.ts";
import { expectSound } from "../parcel/damage.ts";
import { readHeader, type SpaceSecret } from "../parcel/parcel.ts";
import { RemoteFailure, type RemoteStore } from "../stores/remote-store.ts";
import { readIfThere, writePrivately } from "./identity.ts";
import { memberOf, openRoster, sealRoster, verifierOf, type Member, type SignedRoster } from "./roster.ts";

type Random = (bytes: number) => Buffer;

/** An open space. */
export interface Space {
  readonly id: string;
  readonly names: SpaceNames;
  readonly store: RemoteStore;
  /** The hash of its first roster. */
  readonly fingerprint: string;
  readonly secrets: ReadonlyMap<number, SpaceSecret>;
  /** The newest roster. */
  readonly roster: SignedRoster;
  /** All members that ever were, whose signatures count. */
  readonly members: ReadonlyMap<string, Member>;
}

/** The secret that new parcels are encrypted with. */
export function presentSecret({ secrets, roster }: Space): SpaceSecret {
  return secrets.get(roster.roster.generation)!;
}

/** The secret of a parcel; throws when this member was never given it. */
export function secretFor({ secrets }: Space, bytes: Buffer): SpaceSecret {
  const secret = secrets.get(readHeader(bytes).generation);
  expectSound(secret !== undefined, "the parcel is of a key generation that is not known here");
  return secret;
}

/** The spaces below the prefix of a remote. */
export async function findSpaces(store: RemoteStore): Promise<string[]> {
  const found: string[] = [];
  for (let after: string | undefined; ;) {
    const next = await firstKey(store, after);
    if (next === undefined) return found;
    const [space = ""] = next.split("/");
    if (/^[0-9a-f]{32}$/.test(space)) found.push(space);
    // the first key that is not below this one: "0" follows "/"
    after = `${space}0`;
  }
}

async function firstKey(store: RemoteStore, after: string | undefined): Promise<string | undefined> {
  for await (const { key } of store.list("", after)) return key;
  return undefined;
}

/** Makes a space with one admin and a recovery key. The roster is written last: without it there is no space. */
export async function createSpace(
  store: RemoteStore,
  founders: { readonly own: MemberKeys; readonly name: string; readonly recovery: MemberKeys },
  random: Random,
): Promise<Space> {
  const { own, name, recovery } = founders;
  const names = new SpaceNames(random(16).toString("hex"));
  const secret: SpaceSecret = { space: names.space, generation: 1, secret: random(32) };
  const members = [
    memberOf(own, { name, role: "admin", isRecovery: false }),
    memberOf(recovery, { name: "recovery key", role: "admin", isRecovery: true }),
  ];
  for (const member of members) await sealTo(store, names, { member, secret, random });
  const facts = { space: names.space, number: 1, previous: null, generation: 1, members };
  const sealing = { key: names.roster(1), secret, salt: random(32), signer: own };
  const bytes = sealRoster(facts, sealing);
  const put = await store.put(names.roster(1), bytes, { createOnly: false });
  expectSound(put.outcome === "stored", "the space exists already");
  return openSpace(store, names.space, own);
}

async function sealTo(
  store: RemoteStore,
  names: SpaceNames,
  {
    member,
    secret,
    random,
  }: { readonly member: Member; readonly secret: SpaceSecret; readonly random: Random },
): Promise<void> {
  const to = { recipient: Buffer.from(member.receive, "hex"), ephemeral: random(32) };
  const sealed = hpkeSeal(secret.secret, to, { info: sealInfo(names.space, secret.generation) });
  await store.put(names.sealedSecret(secret.generation, member.id), sealed, { createOnly: false });
}

function sealInfo(space: string, generation: number): Buffer {
  return Buffer.from(`belay space 1\0${space}\0${generation}`);
}

/** Opens a space from the server alone: the secrets that are sealed to this member, and the chain of rosters. */
export async function openSpace(store: RemoteStore, id: string, keys: MemberKeys): Promise<Space> {
  const names = new SpaceNames(id);
  const listed: string[] = [];
  for await (const { key } of store.list(names.rosters)) listed.push(key);
  const secrets = await openSecrets(store, { names, keys, listed });
  if (secrets.size === 0) throw keyMissing(id);
  const rosters = await readRosters(store, { names, secrets, listed });
  const roster = rosters.at(-1);
  expectSound(roster !== undefined, "the space has no roster");
  expectSound(
    secrets.has(roster.roster.generation),
    "the present secret of the space is not sealed to this member",
  );
  const members = new Map(
    rosters.flatMap((one) => one.roster.members.map((member) => [member.id, member] as const)),
  );
  return { id, names, store, fingerprint: rosters[0]!.hash, secrets, roster, members };
}

interface Reading {
  readonly names: SpaceNames;
  readonly listed: readonly string[];
}

async function openSecrets(
  store: RemoteStore,
  { names, keys, listed }: Reading & { readonly keys: MemberKeys },
): Promise<Map<number, SpaceSecret>> {
  const secrets = new Map<number, SpaceSecret>();
  for (const key of listed) {
    const [, generation] = /\/(\d+)\.[0-9a-f]{32}$/.exec(key) ?? [];
    if (generation === undefined || !key.endsWith(`.${keys.id}`)) continue;
    const sealed = await store.get(key);
    if (sealed === undefined) continue;
    const secret = hpkeOpen(sealed.bytes, keys.receive, { info: sealInfo(names.space, Number(generation)) });
    secrets.set(Number(generation), { space: names.space, generation: Number(generation), secret });
  }
  return secrets;
}

async function readRosters(
  store: RemoteStore,
  { names, secrets, listed }: Reading & { readonly secrets: ReadonlyMap<number, SpaceSecret> },
): Promise<SignedRoster[]> {
  const rosters: SignedRoster[] = [];
  const numbers = listed.flatMap((key) => numberIn(key) ?? []).toSorted((a, b) => a - b);
  for (const n of numbers) {
    const got = await store.get(names.roster(n));
    expectSound(got !== undefined, "a roster is gone");
    const secret = secrets.get(readHeader(got.bytes).generation);
    expectSound(secret !== undefined, "a roster is of a key generation that is not known here");
    rosters.push(openRoster(got.bytes, { key: names.roster(n), secret, before: rosters.at(-1) }));
  }
  return rosters;
}

/** Makes this machine a member of a space that another admin's keys, such as the recovery key, opened. */
export async function joinSpace(
  space: Space,
  joining: { readonly admin: MemberKeys; readonly own: MemberKeys; readonly name: string },
  random: Random,
): Promise<Space> {
  const { names, store, roster } = space;
  const { admin, own, name } = joining;
  const secret = presentSecret(space);
  if (space.members.has(own.id)) return openSpace(store, space.id, own);
  const member = memberOf(own, { name, role: "admin", isRecovery: false });
  for (const each of space.secrets.values()) await sealTo(store, names, { member, secret: each, random });
  const number = roster.roster.number + 1;
  const { generation, members } = roster.roster;
  const facts = { space: space.id, number, previous: roster.hash, generation, members: [...members, member] };
  const bytes = sealRoster(facts, { key: names.roster(number), secret, salt: random(32), signer: admin });
  if (!(await isFirstToPut(store, names.roster(number), bytes)))
    throw new ContractError(
      "REMOTE_UNREACHABLE",
      "Another machine changed the members of the space just now. Nothing was changed.",
      {
        hint: "Run the command again.",
      },
    );
  return openSpace(store, space.id, own);
}

/** Puts what no other machine may have put; where the server cannot refuse to overwrite, a look before and after tells. */
async function isFirstToPut(store: RemoteStore, key: string, bytes: Buffer): Promise<boolean> {
  try {
    return (await store.put(key, bytes, { createOnly: true })).outcome === "stored";
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.kind !== "unsupported") throw error;
  }
  if ((await store.get(key)) !== undefined) return false;
  await store.put(key, bytes, { createOnly: false });
  return (await store.get(key))?.bytes.equals(bytes) === true;
}

/** Proves a signature by a member of the space. */
export function isSignedByMember(
  space: Space,
  member: string,
  parcel: { isSignedBy(key: ReturnType<typeof verifierOf>): boolean },
): boolean {
  const found = space.members.get(member);
  return found !== undefined && parcel.isSignedBy(verifierOf(found));
}

/** Where the home keeps what it knows of a space. */
export function spaceDirectory(home: string, id: string): string {
  return join(home, "spaces", id);
}

interface KeptSpace {
  readonly fingerprint: string;
  readonly secrets: Readonly<Record<string, string>>;
  readonly roster: SignedRoster;
  readonly members: readonly Member[];
}

/** Keeps what opening a space needs, privately. */
export function keepSpace(home: string, space: Space): void {
  const kept: KeptSpace = {
    fingerprint: space.fingerprint,
    secrets: Object.fromEntries([...space.secrets].map(([n, { secret }]) => [n, secret.toString("base64")])),
    roster: space.roster,
    members: [...space.members.values()],
  };
  writePrivately(spaceDirectory(home, space.id), "space.json", `${JSON.stringify(kept)}\n`);
}

/** A space as the home knows it, without a request; undefined when it does not. */
export function keptSpace(home: string, id: string, store: RemoteStore): Space | undefined {
  const text = readIfThere(join(spaceDirectory(home, id), "space.json"));
  if (text === undefined) return undefined;
  const { fingerprint, secrets, roster, members } = JSON.parse(text) as KeptSpace;
  return {
    id,
    names: new SpaceNames(id),
    store,
    fingerprint,
    roster,
    members: new Map(members.map((member) => [member.id, member])),
    secrets: new Map(
      Object.entries(secrets).map(([n, secret]) => [
        Number(n),
        { space: id, generation: Number(n), secret: Buffer.from(secret, "base64") },
      ]),
    ),
  };
}

/** This machine has no key of the space. */
export function keyMissing(space: string): ContractError {
  return new ContractError(
    "SPACE_KEY_MISSING",
    "This machine has no key of the space at that address. Nothing was changed.",
    {
      hint: "Give the recovery key of the space with --recovery-file, or use a prefix of its own for a new space.",
      facts: { space },
    },
  );
}
