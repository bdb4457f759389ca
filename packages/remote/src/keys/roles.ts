/**
 * What the members of a space may do. A server cannot be trusted to keep to it: every reader checks what was signed
 * against the role that its signer had at that time [R760].
 */

/** The roles, the most powerful first. */
export const ROLES = ["admin", "collector", "member", "agent", "reader"] as const;

/** What a member is. */
export type Role = (typeof ROLES)[number];

/** What a signature can be for. */
export type Right =
  /** Write a line. */
  | "line"
  /** Change the roster. */
  | "roster"
  /** Make tokens. */
  | "issue"
  /** Condemn and delete parcels. */
  | "sweep";

const RIGHTS: Readonly<Record<Role, readonly Right[]>> = {
  admin: ["line", "roster", "issue", "sweep"],
  collector: ["line", "sweep"],
  member: ["line", "issue"],
  agent: ["line"],
  reader: [],
};

/** Whether a role has a right. */
export function mayDo(role: Role, right: Right): boolean {
  return RIGHTS[role].includes(right);
}

/** Whether a word is the name of a role. */
export function isRole(word: unknown): word is Role {
  return ROLES.includes(word as Role);
}
