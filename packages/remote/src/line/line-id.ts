/**
 * The id of a line says who writes it: half of it is random, the other half proves the member. So no other member can
 * pass off a segment, a fold or a base there, also where nothing of the line is left to compare it with [T4].
 */
import { createHash } from "node:crypto";

const HALF_BYTES = 8;

/** The id of a new line of a member. */
export function newLineId(member: string, random: (bytes: number) => Buffer): string {
  const half = random(HALF_BYTES).toString("hex");
  return `${half}${proofOf(half, member)}`;
}

/** Whether a line is a member's. */
export function isLineOf(line: string, member: string): boolean {
  const half = line.slice(0, HALF_BYTES * 2);
  return line === `${half}${proofOf(half, member)}`;
}

function proofOf(half: string, member: string): string {
  const digest = createHash("sha256").update(`belay line 1\0${half}\0${member}`).digest("hex");
  return digest.slice(0, HALF_BYTES * 2);
}
