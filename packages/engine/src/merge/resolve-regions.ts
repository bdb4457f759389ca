/** The text that results from a choice for each region of a conflict, and the text with marks that people edit. */
import { joinLines, splitLines, type Lines } from "../diff/lines.ts";
import type { MergeOption } from "../model/merge.ts";
import { mergePieces, type MergePlace } from "./merge3.ts";

/** Three contents of one path. */
export interface TextVersions {
  readonly base: Buffer;
  readonly ours: Buffer;
  readonly theirs: Buffer;
}

/** What a region can become. */
export type RegionOption = Extract<MergeOption, "ours" | "theirs" | "both" | "base">;

/** The numbers of regions start with 1, as people see them. Undefined while a region has no choice. */
export function resolveRegions(
  versions: TextVersions,
  choiceOf: (region: number) => RegionOption | undefined,
): Buffer | undefined {
  const lines: string[] = [];
  let region = 0;
  for (const piece of piecesOf(versions)) {
    if (piece.conflict === undefined) {
      lines.push(...piece.lines);
      continue;
    }
    const choice = choiceOf((region += 1));
    if (choice === undefined) return undefined;
    lines.push(...linesOf(piece, choice));
  }
  return joinLines(lines);
}

/** How many places the two sides exclude each other in. */
export function countRegions(versions: TextVersions): number {
  return piecesOf(versions).filter(({ conflict }) => conflict !== undefined).length;
}

/** The mechanical merge with marks as `diff3` writes them. */
export function markedText(versions: TextVersions, names: { ours: string; theirs: string }): Buffer {
  const lines: string[] = [];
  for (const piece of piecesOf(versions)) {
    if (piece.conflict === undefined) lines.push(...piece.lines);
    else
      lines.push(
        `<<<<<<< ${names.ours}\n`,
        ...whole(piece.ours),
        "||||||| base\n",
        ...whole(piece.base),
        "=======\n",
        ...whole(piece.theirs),
        `>>>>>>> ${names.theirs}\n`,
      );
  }
  return joinLines(lines);
}

type Piece =
  | { readonly lines: Lines; readonly conflict?: undefined }
  | {
      readonly conflict: MergePlace;
      readonly base: Lines;
      readonly ours: Lines;
      readonly theirs: Lines;
    };

function piecesOf(versions: TextVersions): Piece[] {
  const [base, ours, theirs] = [versions.base, versions.ours, versions.theirs].map(splitLines) as [
    Lines,
    Lines,
    Lines,
  ];
  return mergePieces(base, ours, theirs).map((piece): Piece => {
    if (piece.conflict === undefined) return piece;
    const { conflict } = piece;
    return {
      conflict,
      base: base.slice(conflict.base.start, conflict.base.end),
      ours: ours.slice(conflict.ours.start, conflict.ours.end),
      theirs: theirs.slice(conflict.theirs.start, conflict.theirs.end),
    };
  });
}

function linesOf(piece: Extract<Piece, { conflict: MergePlace }>, choice: RegionOption): Lines {
  return choice === "both" ? [...whole(piece.ours), ...piece.theirs] : piece[choice];
}

/** Lines that another line can follow: the last one of a file may lack its end. */
function whole(lines: Lines): Lines {
  const last = lines.at(-1);
  return last === undefined || last.endsWith("\n") ? lines : [...lines.slice(0, -1), `${last}\n`];
}
