/**
 * A space: what the workspaces of several machines share. The keys of a member open it from the server alone;
 * what was learned is kept in the home, so that an ordinary push need not ask for it again.
 */
import { createHash } from "node:crypto";
import { join } from "node:path";
import { ContractError } from "@belay/protocol/errors";
import { hpkeOpen, hpkeSeal } from "../keys/hpke.ts";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { numberIn, SpaceNames } from "../line/keys-of-space.ts";
import { DamageError, expectSound, UnknownSecretError } from "../parcel/damage.ts";
import { readHeader, type SpaceSecret } from "../parcel/parcel.ts";
import { RemoteFailure, type RemoteStore, type StoredObject } from "../stores/remote-store.ts";
import { readIfThere, writePrivately } from "./identity.ts";
import {
  memberOf,
  MisplacedRosterError,
  openRoster,
  sealRoster,
  type Member,
  type SignedRoster,
} from "./roster.ts";

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
  /** All rosters, the first one first: what a signature is worth depends on when it was made. */
  readonly rosters: readonly SignedRoster[];
  /** The highest number that a roster, or what was put in the place of one, has. */
  readonly lastNumber: number;
  /** All members that ever were. */
  readonly members: ReadonlyMap<string, Member>;
}

/** The secret that new parcels are encrypted with. */
export function presentSecret({ secrets, roster }: Space): SpaceSecret {
  return secrets.get(roster.roster.generation)!;
}

/** The secret of a parcel; throws when this member was never given it. */
export function secretFor({ secrets }: Space, bytes: Buffer): SpaceSecret {
  const { generation } = readHeader(bytes);
  const secret = secrets.get(generation);
  if (secret === undefined) throw new UnknownSecretError(generation);
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
    memberOf(recovery, { name: RECOVERY_NAME, role: "admin", isRecovery: true }),
  ];
  for (const member of members) {
    const bytes = sealedTo(member, { names, secret, random });
    await store.put(names.sealedSecret(1, member.id), bytes, { createOnly: false });
  }
  const facts = { space: names.space, number: 1, previous: null, generation: 1, members };
  const sealing = { key: names.roster(1), secret, salt: random(32), signer: own };
  const bytes = sealRoster(facts, sealing);
  const put = await store.put(names.roster(1), bytes, { createOnly: false });
  expectSound(put.outcome === "stored", "the space exists already");
  return openSpace(store, names.space, own);
}

/** How the recovery key is called in the list of members. */
export const RECOVERY_NAME = "recovery key";

/** The secret of a generation, sealed to a member. */
export function sealedTo(
  member: Pick<Member, "receive">,
  {
    names,
    secret,
    random,
  }: { readonly names: SpaceNames; readonly secret: SpaceSecret; readonly random: Random },
): Buffer {
  const to = { recipient: Buffer.from(member.receive, "hex"), ephemeral: random(32) };
  return hpkeSeal(secret.secret, to, { info: sealInfo(names.space, secret.generation) });
}

function sealInfo(space: string, generation: number): Buffer {
  return Buffer.from(`belay space 1\0${space}\0${generation}`);
}

/**
 * Opens a space from the server alone: the secrets that are sealed to this member, or that its pass brings along, and
 * the chain of rosters. What was known before is not asked again, and must still be there [T15].
 */
export async function openSpace(
  store: RemoteStore,
  id: string,
  keys: MemberKeys,
  known?: Pick<Space, "secrets" | "rosters">,
): Promise<Space> {
  const names = new SpaceNames(id);
  const listed: Listed[] = [];
  for await (const object of store.list(names.rosters)) listed.push(object);
  const secrets = new Map(known?.secrets);
  for (const [generation, secret] of keys.secrets ?? [])
    secrets.set(generation, { space: id, generation, secret });
  await openSecrets(store, { names, keys, listed }, secrets);
  if (secrets.size === 0) throw keyMissing(id);
  const rosters = await readRosters(store, { names, secrets, listed, known: known?.rosters ?? [] });
  const roster = rosters.at(-1);
  expectSound(roster !== undefined, "the space has no roster");
  const lastNumber = Math.max(roster.roster.number, ...listed.map(({ key }) => numberIn(key) ?? 0));
  return spaceOf(store, id, { rosters, secrets, lastNumber });
}

/** A space of what is known about it. */
function spaceOf(
  store: RemoteStore,
  id: string,
  { rosters, secrets, lastNumber }: Pick<Space, "rosters" | "secrets" | "lastNumber">,
): Space {
  const members = new Map(
    rosters.flatMap((one) => one.roster.members.map((member) => [member.id, member] as const)),
  );
  const [first, roster] = [rosters[0]!, rosters.at(-1)!];
  return {
    id,
    names: new SpaceNames(id),
    store,
    fingerprint: first.hash,
    secrets,
    roster,
    rosters,
    lastNumber,
    members,
  };
}

type Listed = Pick<StoredObject, "key" | "modified">;

interface Reading {
  readonly names: SpaceNames;
  readonly listed: readonly Listed[];
}

async function openSecrets(
  store: RemoteStore,
  { names, keys, listed }: Reading & { readonly keys: MemberKeys },
  secrets: Map<number, SpaceSecret>,
): Promise<void> {
  for (const { key } of listed) {
    const generation = generationIn(key);
    if (generation === undefined || secrets.has(generation) || !key.endsWith(`.${keys.id}`)) continue;
    const sealed = await store.get(key);
    if (sealed === undefined) continue;
    const secret = hpkeOpen(sealed.bytes, keys.receive, { info: sealInfo(names.space, generation) });
    secrets.set(generation, { space: names.space, generation, secret });
  }
}

/** The generation of the secret that is sealed under a key; undefined when it is another object. */
export function generationIn(key: string): number | undefined {
  const [, generation] = /\/(\d+)\.[0-9a-f]{32}$/.exec(key) ?? [];
  return generation === undefined ? undefined : Number(generation);
}

async function readRosters(
  store: RemoteStore,
  {
    names,
    secrets,
    listed,
    known,
  }: Reading & {
    readonly secrets: ReadonlyMap<number, SpaceSecret>;
    readonly known: readonly SignedRoster[];
  },
): Promise<SignedRoster[]> {
  const rosters = [...known];
  const last = known.at(-1);
  const found = listed
    .flatMap(({ key, modified }) => ({ n: numberIn(key) ?? 0, at: modified }))
    .filter(({ n }) => n > 0 && n >= (last?.roster.number ?? 0))
    .toSorted((a, b) => a.n - b.n);
  if (last !== undefined && found[0]?.n !== last.roster.number) throw rosterRolledBack(names.space);
  for (const { n, at } of found) {
    const got = await store.get(names.roster(n));
    expectSound(got !== undefined, "a roster is gone");
    if (n === last?.roster.number) {
      // [T15] another one under the same number
      if (createHash("sha256").update(got.bytes).digest("hex") !== last.hash)
        throw rosterRolledBack(names.space);
      continue;
    }
    const { generation } = readHeader(got.bytes);
    const secret = secrets.get(generation);
    // [R762] of a change that another admin was quicker with, a removed member may have a later secret
    if (secret === undefined && generation > (rosters.at(-1)?.roster.generation ?? 0))
      throw lockedOut(names.space);
    expectSound(secret !== undefined, "a roster is of a key generation that is not known here");
    const next = nextRoster(got.bytes, { key: names.roster(n), secret, chain: rosters, at });
    if (next !== undefined) rosters.push(next);
  }
  return rosters;
}

/** [R760] What no admin signed and no invitation allows is passed over: it takes a number, and nothing else. */
function nextRoster(bytes: Buffer, opening: Parameters<typeof openRoster>[1]): SignedRoster | undefined {
  try {
    return openRoster(bytes, opening);
  } catch (error) {
    const isStray = error instanceof DamageError && !(error instanceof MisplacedRosterError);
    if (isStray && opening.chain.length > 0) return undefined;
    throw error;
  }
}

/** Puts what no other machine may have put; where the server cannot refuse to overwrite, a look before and after tells. */
export async function isFirstToPut(store: RemoteStore, key: string, bytes: Buffer): Promise<boolean> {
  try {
    return (await store.put(key, bytes, { createOnly: true })).outcome === "stored";
  } catch (error) {
    if (!(error instanceof RemoteFailure) || error.kind !== "unsupported") throw error;
  }
  if ((await store.get(key)) !== undefined) return false;
  await store.put(key, bytes, { createOnly: false });
  return (await store.get(key))?.bytes.equals(bytes) === true;
}

/** Where the home keeps what it knows of a space. */
export function spaceDirectory(home: string, id: string): string {
  return join(home, "spaces", id);
}

interface KeptSpace {
  readonly format: number;
  readonly secrets: Readonly<Record<string, string>>;
  readonly rosters: readonly SignedRoster[];
  /** When the server was last asked, by this machine's clock. */
  readonly lookedAt: number;
}

const KEPT_FORMAT = 2;

/** Keeps what opening a space needs, privately. */
export function keepSpace(home: string, space: Space, lookedAt = 0): void {
  const kept: KeptSpace = {
    format: KEPT_FORMAT,
    secrets: Object.fromEntries([...space.secrets].map(([n, { secret }]) => [n, secret.toString("base64")])),
    rosters: space.rosters,
    lookedAt,
  };
  writePrivately(spaceDirectory(home, space.id), "space.json", `${JSON.stringify(kept)}\n`);
}

/** A space as the home knows it, without a request, and when the server was last asked; undefined when it does not. */
export function keptSpace(
  home: string,
  id: string,
  store: RemoteStore,
): (Space & { readonly lookedAt: number }) | undefined {
  const text = readIfThere(join(spaceDirectory(home, id), "space.json"));
  if (text === undefined) return undefined;
  const { format, secrets, rosters, lookedAt } = JSON.parse(text) as KeptSpace;
  // of an earlier version: the server is asked again
  if (format !== KEPT_FORMAT) return undefined;
  const opened = Object.entries(secrets).map(
    ([n, secret]) =>
      [Number(n), { space: id, generation: Number(n), secret: Buffer.from(secret, "base64") }] as const,
  );
  const lastNumber = rosters.at(-1)!.roster.number;
  return { ...spaceOf(store, id, { rosters, secrets: new Map(opened), lastNumber }), lookedAt };
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

/** [R762] The secret was changed, and this machine was not given the new one. */
function lockedOut(space: string): ContractError {
  return new ContractError(
    "SPACE_KEY_MISSING",
    "The key of the space was changed, and this machine was not given the new one: it was removed, or its token or invitation is from before. Nothing was changed.",
    { hint: "Ask an admin of the space for an invitation or a new token.", facts: { space } },
  );
}

function rosterRolledBack(space: string): ContractError {
  return new ContractError(
    "REMOTE_ROLLED_BACK",
    "The list of members at that address is older than the one that this machine saw. It was not used.",
    { facts: { space } },
  );
}
