/**
 * The members of the space of a remote: who they are, inviting, adding and removing them, changing the secret, and tokens
 * for jobs. Every change is an admin's; making a pass asks no server.
 */
import type { ForgetRequest, RemoteEntry, Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import { memberId, type MemberKeys } from "../keys/key-pairs.ts";
import { makePass } from "../keys/pass.ts";
import { parseRecoveryKey, recoveryKeys } from "../keys/recovery-key.ts";
import {
  addMember,
  askToForget,
  changePolicy,
  joinSpace,
  parsePublicIdentity,
  publicIdentity,
  removeMember,
  rotateSecret,
  takeOver,
} from "../space/change-roster.ts";
import { readIdentity } from "../space/identity.ts";
import { expectRight, keysOf } from "../space/own-keys.ts";
import type { Role } from "../keys/roles.ts";
import { policyOf, type Policy } from "../space/policy.ts";
import { FORGETS_LIMIT, memberOf, type Member } from "../space/roster.ts";
import { MemoryRemoteStore } from "../stores/memory-remote-store.ts";
import { keepSpace, keptSpace, openSpace, RECOVERY_NAME, type Space } from "../space/space.ts";
import { adoptableLine, type AdoptableLine } from "./adoptable-line.ts";
import { findRemote } from "./find-remote.ts";
import { reopened } from "./present-space.ts";
import { memberName, type RemoteHost } from "./remote-host.ts";
import { readUsage, type SpaceUsage } from "./space-usage.ts";
import { translating } from "./translate-failure.ts";

/** A member as lists show it. */
export interface ListedMember {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  readonly isRecovery: boolean;
  /** This machine. */
  readonly isOwn: boolean;
  /** When the membership ends; null when it does not. */
  readonly until: number | null;
}

/** What a pass is to give. */
export interface PassRequest {
  readonly role: Role;
  /** For how long it can be used. */
  readonly ttlMs: number;
  /** Of a token: what the line of its job is called. */
  readonly name?: string | undefined;
}

/** A pass that was made. Its text is a secret. */
export interface MadePass {
  readonly text: string;
  readonly role: Role;
  readonly until: number;
  readonly name: string;
}

/** The members of a space, and what an admin can do about them. */
export interface SpaceMembers {
  readonly entry: RemoteEntry;
  list(): Promise<{ readonly generation: number; readonly members: readonly ListedMember[] }>;
  /** A one-time invitation. */
  invite(request: PassRequest): Promise<MadePass>;
  /** A token for jobs, until its time is over. */
  issueToken(request: PassRequest): Promise<MadePass>;
  /** Adds a machine by its public identity. */
  add(identity: string, facts: { readonly name: string; readonly role: Role }): Promise<ListedMember>;
  /** Makes a recovery key for the space; `seed` is kept by the caller first. */
  addRecoveryKey(seed: Buffer): Promise<void>;
  /** Takes a member out, by id or name; the secret changes. */
  remove(member: string): Promise<ListedMember>;
  /** Changes the secret for what comes; the number of the new generation. [R2245] With `isRewriting` every line follows. */
  rotate(isRewriting?: boolean): Promise<number>;
  /** The line that a name or the beginning of an id means, and whether it can be adopted. */
  adoptable(line: string): Promise<AdoptableLine>;
  /** [R2240] Takes over a line whose machine is gone, by its id. */
  adopt(line: string): Promise<void>;
  /** How long lines keep checkpoints, how much the space may hold, and how much it does. */
  policy(): Promise<{ readonly policy: Policy; readonly usage: SpaceUsage }>;
  /** [R1815] Changes the policy; each line follows when it is next restated. */
  setPolicy(policy: Partial<Policy>): Promise<void>;
  /** Throws unless this machine may ask every other one to forget something. */
  expectMayForget(request: ForgetRequest): Promise<void>;
  /** [R2027] Asks every machine of the space to forget something: each follows at its next push or pull. */
  forgetEverywhere(request: ForgetRequest): Promise<void>;
}

const DAY_MS = 86_400_000;
const AGENT_DAYS = 30;
const LONGEST_TOKEN_MS = 90 * DAY_MS;
const LONGEST_INVITATION_MS = 30 * DAY_MS;

/** The members of the space of a remote. */
export function openMembers(workspace: Workspace, name: string | undefined, host: RemoteHost): SpaceMembers {
  const entry = findRemote(workspace, name);
  const keys = keysOf(host, entry);
  const { random } = host.around;
  const fresh = () => reopened(host.connect(entry.url), entry, { keys, host });
  /** Runs a change on the newest roster, and keeps what came of it. */
  const change = (work: (space: Space) => Promise<Space>) =>
    translating(async () => {
      const space = await fresh();
      expectRight(space, keys, "roster");
      const changed = await work(space);
      keepSpace(host.home, changed, space.lookedAt);
      return changed;
    });
  const issue = (purpose: "token" | "invitation", request: PassRequest) =>
    translating(async () => {
      // a pass is made offline, where this home knows the space
      const space = keptSpace(host.home, entry.space, NO_STORE) ?? (await fresh());
      expectRight(space, keys, purpose === "token" ? "issue" : "roster");
      return makeOne(purpose, request, { space, keys, entry, host });
    });
  return {
    entry,
    list: () => translating(async () => listedAll(await fresh(), keys)),
    invite: (request) => issue("invitation", request),
    issueToken: (request) => issue("token", request),
    add: async (identity, facts) => {
      const member = memberFrom(identity, facts);
      await change((space) => addMember(space, member, { admin: keys, random }));
      return listed(member, keys);
    },
    addRecoveryKey: async (seed) => {
      const facts = { name: RECOVERY_NAME, role: "admin", isRecovery: true } as const;
      const member = memberOf(recoveryKeys(seed), facts);
      await change((space) => addMember(space, member, { admin: keys, random }));
    },
    remove: async (wanted) => {
      let removed: Member | undefined;
      await change((space) => {
        removed = chosenMember(space, wanted);
        expectAdminLeft(space, removed);
        return removeMember(space, removed.id, { admin: keys, random });
      });
      return listed(removed!, keys);
    },
    adoptable: (wanted) =>
      translating(async () => {
        const space = await fresh();
        expectRight(space, keys, "roster");
        return adoptableLine(space, wanted, { keys, own: workspace.exchange.remotes() });
      }),
    adopt: async (line) => {
      await change(async (space) => {
        await adoptableLine(space, line, { keys, own: workspace.exchange.remotes() });
        return takeOver(space, line, { admin: keys, random });
      });
    },
    rotate: async (isRewriting = false) => {
      const { roster } = await change((space) => rotateSecret(space, { admin: keys, random }, isRewriting));
      return roster.roster.generation;
    },
    ...spaceWishes({ fresh, change, keys, random }),
  };
}

/** What an admin wants of every machine: the policy, and what is to be forgotten. */
function spaceWishes({
  fresh,
  change,
  keys,
  random,
}: {
  readonly fresh: () => Promise<Space>;
  readonly change: (work: (space: Space) => Promise<Space>) => Promise<Space>;
  readonly keys: MemberKeys;
  readonly random: (bytes: number) => Buffer;
}): Pick<SpaceMembers, "policy" | "setPolicy" | "expectMayForget" | "forgetEverywhere"> {
  return {
    policy: () =>
      translating(async () => {
        const space = await fresh();
        return { policy: policyOf(space), usage: await readUsage(space) };
      }),
    expectMayForget: (request) =>
      translating(async () => {
        expectFits(request);
        expectRight(await fresh(), keys, "roster");
      }),
    forgetEverywhere: async (request) => {
      expectFits(request);
      await change((space) => askToForget(space, request, { admin: keys, random }));
    },
    setPolicy: async (policy) => {
      await change((space) => changePolicy(space, policy, { admin: keys, random }));
    },
  };
}

function expectFits({ contents }: ForgetRequest): void {
  if (contents.length <= FORGETS_LIMIT) return;
  throw new ContractError(
    "USAGE",
    `That is ${contents.length} contents: ${FORGETS_LIMIT} at most can be forgotten everywhere at once. Nothing was changed.`,
    { hint: "Forget the files of a directory one after another." },
  );
}

/** Nothing is asked of it. */
const NO_STORE = new MemoryRemoteStore();

function listedAll({ roster: { roster } }: Space, own: MemberKeys) {
  return { generation: roster.generation, members: roster.members.map((member) => listed(member, own)) };
}

function listed({ id, name, role, isRecovery, until }: Member, own: MemberKeys): ListedMember {
  return { id, name, role, isRecovery, isOwn: id === own.id, until: until ?? null };
}

interface Issuing {
  readonly space: Space;
  readonly keys: MemberKeys;
  readonly entry: RemoteEntry;
  readonly host: RemoteHost;
}

function makeOne(
  purpose: "token" | "invitation",
  { role, ttlMs, name }: PassRequest,
  { space, keys, entry, host }: Issuing,
): MadePass {
  const { now, random } = host.around;
  const longest = purpose === "token" ? LONGEST_TOKEN_MS : LONGEST_INVITATION_MS;
  if (ttlMs > longest)
    throw new ContractError("USAGE", `That is too long: ${longest / DAY_MS} days at most. Nothing was made.`);
  if (purpose === "token" && role !== "agent" && role !== "reader")
    throw new ContractError("USAGE", `A token cannot make a ${role}: only an agent or a reader.`, {
      hint: "`belay remote invite` makes members.",
    });
  const until = now() + ttlMs;
  const called = name ?? `${role}-${random(3).toString("hex")}`;
  const { text } = makePass(
    {
      purpose,
      space: space.id,
      fingerprint: space.fingerprint,
      name: called,
      role,
      until,
      memberUntil: purpose === "invitation" && role === "agent" ? now() + AGENT_DAYS * DAY_MS : null,
    },
    keys,
    { secrets: space.secrets, url: entry.url, remote: entry.name, random },
  );
  return { text, role, until, name: called };
}

function memberFrom(
  identity: string,
  { name, role }: { readonly name: string; readonly role: Role },
): Member {
  const keys = parsePublicIdentity(identity);
  if (keys === undefined)
    throw new ContractError("USAGE", "That is not the public identity of a machine. Nothing was changed.", {
      hint: "`belay remote keys list` shows it there: belay-member-1.…",
    });
  const id = memberId(Buffer.from(keys.sign, "hex"), Buffer.from(keys.receive, "hex"));
  return { id, name, role, isRecovery: false, ...keys };
}

function chosenMember({ roster }: Space, wanted: string): Member {
  const { members } = roster.roster;
  const found = members.filter(
    ({ id, name }) => name === wanted || (wanted.length >= 4 && id.startsWith(wanted)),
  );
  if (found.length === 1) return found[0]!;
  const why = found.length === 0 ? `There is no member "${wanted}".` : `"${wanted}" fits several members.`;
  throw new ContractError("MEMBER_NOT_FOUND", `${why} Nothing was changed.`, {
    facts: { members: members.map(({ id, name }) => `${id.slice(0, 8)} ${name}`) },
    list: members.map(({ id, name }) => `${id.slice(0, 8)} ${name}`),
  });
}

/** A space without an admin could never be changed again. */
function expectAdminLeft({ roster }: Space, removed: Member): void {
  const left = roster.roster.members.filter(({ id, role }) => role === "admin" && id !== removed.id);
  if (left.length > 0) return;
  throw new ContractError("ROLE_REQUIRED", "That is the only admin of the space. Nothing was changed.", {
    hint: "Invite another admin first: `belay remote invite --role admin`.",
  });
}

/** Makes this machine an admin again, with the recovery key; the key and role of a lost machine stay until they are removed. */
export async function recoverMembership(
  workspace: Workspace,
  { name, recoveryKey }: { readonly name: string | undefined; readonly recoveryKey: string },
  host: RemoteHost,
): Promise<RemoteEntry> {
  const entry = findRemote(workspace, name);
  const own = keysOf(host, entry);
  const seed = parseRecoveryKey(recoveryKey);
  if (seed === undefined)
    throw new ContractError(
      "SPACE_KEY_MISSING",
      "That is not a recovery key: a letter is wrong or missing. Nothing was changed.",
      { facts: { space: entry.space } },
    );
  return translating(async () => {
    const admin = recoveryKeys(seed);
    const store = host.connect(entry.url);
    const known = keptSpace(host.home, entry.space, store);
    const lookedAt = host.around.now();
    const opened = await openSpace(store, entry.space, admin, known);
    const space = await joinSpace(opened, { admin, own, name: memberName(host) }, host.around.random);
    keepSpace(host.home, space, lookedAt);
    return entry;
  });
}

/** The public identity of this machine, for an admin of a space; undefined when it has no keys yet. */
export function ownIdentity(home: string): string | undefined {
  const keys = readIdentity(home);
  return keys === undefined ? undefined : publicIdentity(keys);
}
