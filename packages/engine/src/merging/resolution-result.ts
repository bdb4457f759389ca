/** What a decision about a conflict comes to: which entry stands at which path. */
import type { ConflictRecord, ResultEntry } from "../history/merge-rows.ts";
import {
  countRegions,
  resolveRegions,
  type RegionOption,
  type TextVersions,
} from "../merge/resolve-regions.ts";
import type { BytePath } from "../model/byte-path.ts";
import type { Entry } from "../model/entry.ts";
import { EngineError } from "../model/errors.ts";
import type { MergeOption } from "../model/merge.ts";
import type { ObjectHash } from "../model/object-hash.ts";

/** A decision: an option for the whole conflict or for one region, or other content. */
export type Choice =
  | { readonly take: MergeOption; readonly region?: number | undefined }
  | { readonly content: Buffer };

/** Where content is read and put, and which names are not free. */
export interface Contents {
  read(hash: ObjectHash): Buffer;
  put(content: Buffer): ObjectHash;
  /** Whether something has a name or will get it; without this every name is free. */
  isTaken?(path: BytePath): boolean;
}

/** The result of a decision; undefined while regions are left. */
export function resultOf(
  conflict: ConflictRecord,
  choice: Choice,
  contents: Contents,
): {
  readonly result: readonly ResultEntry[] | undefined;
  readonly chosen: Readonly<Record<number, MergeOption>>;
} {
  if ("content" in choice && conflict.kind === "check") throw refused(conflict, "it is about no file");
  if ("content" in choice) return { result: withText(conflict, choice.content, contents), chosen: {} };
  const { take, region } = choice;
  if (region !== undefined) return chooseRegion(conflict, { take, region }, contents);
  if (!optionsOf(conflict).includes(take)) throw refused(conflict, `"${take}" is not an answer to it`);
  return { result: resultOfOption(conflict, take, contents), chosen: {} };
}

/** How a conflict can be decided now. */
export function optionsOf({ facts }: ConflictRecord): readonly MergeOption[] {
  return facts.merger === undefined ? facts.options : [...facts.options, "merger"];
}

function resultOfOption(
  conflict: ConflictRecord,
  take: MergeOption,
  contents: Contents,
): readonly ResultEntry[] {
  const { path, kind, facts, base } = conflict;
  const { here, other, proposal, merger } = facts;
  // bringing a source in although a check refused it changes no path by itself
  if (kind === "check") return [];
  switch (take) {
    case "ours":
    case "theirs":
      // in a rename each side has a place of its own; elsewhere the versions meet at one path
      if (kind === "rename" || other === null)
        return [[path, here[take]], ...(other === null ? [] : [[other.path, other[take]] as const])];
      return [
        [path, conflict[take]],
        [other.path, null],
      ];
    case "base":
      return [[path, base]];
    case "both":
      return bothOf(conflict, contents);
    case "delete":
      return [[path, null]];
    case "keep":
      return [[path, conflict.ours ?? conflict.theirs]];
    case "proposal":
      return withText(conflict, contents.read(proposal!.hash), contents);
    case "merger":
      return withText(conflict, contents.read(merger!.hash), contents);
  }
}

function bothOf(conflict: ConflictRecord, contents: Contents): readonly ResultEntry[] {
  const { path, kind, facts } = conflict;
  const { here, other } = facts;
  if (kind === "content") {
    const text = resolveRegions(versionsOf(conflict, contents), () => "both");
    return withText(conflict, text!, contents);
  }
  if (other !== null)
    return [
      [path, here.ours],
      [other.path, other.theirs],
    ];
  return [
    [path, here.ours],
    [besideOf(path, contents), here.theirs],
  ];
}

/** Where the other side's file goes when both are kept: `logo.theirs.png`, or `logo.theirs-2.png` if that is taken. [R96] */
function besideOf(path: BytePath, { isTaken = () => false }: Contents): BytePath {
  const dot = path.lastIndexOf(".");
  const end = dot > path.lastIndexOf("/") + 1 ? dot : path.length;
  for (let number = 1; ; number += 1) {
    const added = number === 1 ? ".theirs" : `.theirs-${number}`;
    const beside = `${path.slice(0, end)}${added}${path.slice(end)}` as BytePath;
    if (!isTaken(beside)) return beside;
  }
}

function chooseRegion(
  conflict: ConflictRecord,
  { take, region }: { take: MergeOption; region: number },
  contents: Contents,
): ReturnType<typeof resultOf> {
  if (conflict.facts.regions.length === 0 || conflict.kind === "rename")
    throw refused(conflict, "it has no regions: decide it as a whole");
  const versions = versionsOf(conflict, contents);
  const count = countRegions(versions);
  if (!Number.isInteger(region) || region < 1 || region > count)
    throw refused(conflict, `it has ${count === 1 ? "one region" : `regions 1 to ${count}`}`);
  if (!isRegionOption(take)) throw refused(conflict, `"${take}" is not an answer to a region`);
  const chosen = { ...conflict.note.chosen, [region]: take };
  const text = resolveRegions(versions, (number) => chosen[number] as RegionOption | undefined);
  return { result: text === undefined ? undefined : withText(conflict, text, contents), chosen };
}

function isRegionOption(take: MergeOption): take is RegionOption {
  return take === "ours" || take === "theirs" || take === "both" || take === "base";
}

/** The three contents of a conflict; an absent one counts as empty. */
export function versionsOf(
  { base, ours, theirs }: ConflictRecord,
  { read }: Pick<Contents, "read">,
): TextVersions {
  const textOf = (entry: Entry | null) => (entry?.kind === "file" ? read(entry.hash) : Buffer.alloc(0));
  return { base: textOf(base), ours: textOf(ours), theirs: textOf(theirs) };
}

/** A file with this text, with the mode of the side that changed it. */
function withText(
  { path, base, ours, theirs, facts }: ConflictRecord,
  text: Buffer,
  { put }: Contents,
): readonly ResultEntry[] {
  const modeOf = (entry: Entry | null) => (entry?.kind === "file" ? entry.mode : undefined);
  const [before, left, right] = [base, ours, theirs].map(modeOf);
  const mode = (left === undefined || left === before ? right : left) ?? left ?? 0o644;
  const entry: Entry = { kind: "file", mode, size: text.length, hash: put(text) };
  return [[path, entry], ...(facts.other === null ? [] : [[facts.other.path, null] as const])];
}

function refused(conflict: ConflictRecord, reason: string): EngineError<"ANSWER_REFUSED"> {
  const options = [...optionsOf(conflict)];
  return new EngineError(
    "ANSWER_REFUSED",
    `The conflict ${conflict.id} was not decided: ${reason}. It can be decided with ${options.join(", ")}. Nothing was changed.`,
    { conflict: conflict.id, options },
  );
}
