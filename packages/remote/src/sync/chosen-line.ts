/** Which line of a space is meant: by the beginning of its id, by the name of its writer, or by a checkpoint in it. */
import { ContractError } from "@belay/protocol/errors";
import type { Space } from "../space/space.ts";
import { writerOfLine } from "../space/writer-rights.ts";
import { listLines, readLine } from "./read-line.ts";

/** A line and who writes it. */
export interface NamedLine {
  readonly line: string;
  /** The writer as other members see it; `/2` for its second line. */
  readonly name: string;
}

/** What is wanted of a space. */
export interface WantedLine {
  readonly line?: string | undefined;
  /** The beginning of the id of a checkpoint. */
  readonly checkpoint?: string | undefined;
}

/** The line that is wanted; throws with those that there are. */
export async function chosenLine(space: Space, wanted: WantedLine): Promise<string> {
  const lines = await listLines(space);
  const byId = wanted.line === undefined ? lines : lines.filter((line) => line.startsWith(wanted.line!));
  if (byId.length === 1) return byId[0]!;
  if (wanted.line === undefined && wanted.checkpoint !== undefined) {
    for (const line of lines) if (await holds(space, line, wanted.checkpoint)) return line;
    throw notFound(`There is no checkpoint "${wanted.checkpoint}" in that space.`, []);
  }
  const named = await nameLines(space, lines);
  const found = named.filter(({ name }) => name === wanted.line);
  if (found.length === 1) return found[0]!.line;
  const why =
    lines.length === 0
      ? "Nothing has been pushed to that space yet."
      : byId.length === 0
        ? `There is no line "${wanted.line}" in that space.`
        : "There are several lines in that space.";
  throw notFound(why, named);
}

function notFound(why: string, named: readonly NamedLine[]): ContractError {
  return new ContractError("REMOTE_NOT_FOUND", `${why} Nothing was changed.`, {
    hint: named.length === 0 ? "`belay push`, where it was added, does." : "Choose one: --line <id or name>.",
    facts: { lines: named.map(({ line }) => line) },
    list: named.map(({ line, name }) => `${line}  ${name}`),
  });
}

async function holds(space: Space, line: string, checkpoint: string): Promise<boolean> {
  for await (const { segment } of readLine(space, line))
    if (segment.records.some(({ kind, id }) => kind === "checkpoint" && id.startsWith(checkpoint)))
      return true;
  return false;
}

/** The names of lines: their writers, as the roster or the token of a job calls them. */
export async function nameLines(space: Space, lines: readonly string[]): Promise<NamedLine[]> {
  const counts = new Map<string, number>();
  const named: NamedLine[] = [];
  for (const line of lines) {
    const writer = (await writerOf(space, line))?.name;
    if (writer === undefined) continue;
    const nth = (counts.get(writer) ?? 0) + 1;
    counts.set(writer, nth);
    named.push({ line, name: nth === 1 ? writer : `${writer}/${nth}` });
  }
  return named;
}

/** Who writes a line; undefined when its first segment does not count. */
export async function writerOf(
  space: Space,
  line: string,
): Promise<{ readonly member: string; readonly name: string } | undefined> {
  for await (const { segment } of readLine(space, line)) {
    const { certificate, device, adopted } = segment.head;
    const member = writerOfLine(space, segment.head);
    const name =
      space.members.get(member)?.name ??
      `${certificate?.name ?? adopted?.name ?? member.slice(0, 8)}@${device}`;
    return { member, name };
  }
  return undefined;
}
