/** Which keys this machine uses for a space: its own, or those of a token; and whether they may write. */
import { ContractError } from "@belay/protocol/errors";
import type { MemberKeys } from "../keys/key-pairs.ts";
import { looksLikePass, openPass, type OpenPass } from "../keys/pass.ts";
import { ensureIdentity, readIdentity } from "./identity.ts";
import { mayDo, type Right } from "../keys/roles.ts";
import { keyMissing, type Space } from "./space.ts";

interface KeyHolder {
  readonly home: string;
  readonly token?: string | undefined;
  readonly around: { readonly random: (bytes: number) => Buffer };
}

/** The keys for a space that is entered now: those of a token for it, or else this machine's own. */
export function keysToEnterSpace({ home, token, around }: KeyHolder, space: string | undefined): MemberKeys {
  const pass = token === undefined ? undefined : openToken(token);
  return pass !== undefined && pass.certificate.space === space
    ? pass.keys
    : ensureIdentity(home, around.random);
}

/** The keys that a remote was added with. */
export function keysOf(
  { home, token }: Pick<KeyHolder, "home" | "token">,
  { member, space }: { readonly member: string; readonly space: string },
): MemberKeys {
  const keys = readIdentity(home);
  if (keys?.id === member) return keys;
  const given = token === undefined ? undefined : openToken(token).keys;
  if (given?.id === member) return given;
  throw keyMissing(space);
}

/** [T17] Reads the token of a member of a space; what is wrong with it is said without repeating it. */
export function openToken(text: string): OpenPass {
  const pass = openPass(text, "token");
  if (pass !== undefined) return pass;
  throw new ContractError(
    "TOKEN_UNUSABLE",
    "BELAY_TOKEN is not a token: letters of it are missing or wrong. Nothing was changed.",
  );
}

/** The invitation in place of an address; undefined when it is an address. */
export function invitationIn(text: string): OpenPass | undefined {
  if (!looksLikePass(text, "invitation")) return undefined;
  const pass = openPass(text, "invitation");
  if (pass !== undefined) return pass;
  throw new ContractError(
    "INVITATION_UNUSABLE",
    "That is not a whole invitation: letters of it are missing or wrong. Nothing was changed.",
  );
}

/** [R760] Throws before something is sent that every reader would refuse. */
export function expectMayWrite(space: Space, keys: MemberKeys, now: number): void {
  const problem = whyNot(space, keys, { right: "line", now });
  if (problem === undefined) return;
  throw new ContractError("ROLE_REQUIRED", `${problem} Nothing was sent; what waits stays queued.`);
}

/** Throws unless these keys have a right now. */
export function expectRight(space: Space, keys: MemberKeys, right: Right): void {
  const problem = whyNot(space, keys, { right, now: 0 });
  if (problem !== undefined) throw new ContractError("ROLE_REQUIRED", `${problem} Nothing was changed.`);
}

const NEEDED: Readonly<Record<Right, string>> = {
  line: "only reads",
  roster: "is not an admin",
  issue: "may not make tokens",
  sweep: "may not delete",
};

function whyNot(
  { roster }: Space,
  { id, certificate }: MemberKeys,
  { right, now }: { readonly right: Right; readonly now: number },
): string | undefined {
  const member = roster.roster.members.find((one) => one.id === id) ?? certificate;
  if (member === undefined) return "This machine is not a member of the space any more.";
  if ((member.until ?? Infinity) < now) return "The time of this machine's membership is over.";
  return mayDo(member.role, right)
    ? undefined
    : `This machine is a ${member.role} of the space: it ${NEEDED[right]}.`;
}
