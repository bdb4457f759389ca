/** What a search through the contents of all checkpoints found, file by file. */
import { join, relative } from "node:path";
import type { Findings, FoundCause, FoundFile, FoundLine, FoundSpan, Workspace } from "@belay/engine";
import { shellWords } from "@belay/protocol/command-text";
import { EXIT } from "@belay/protocol/errors";
import { findingsJson, pathJson } from "@belay/server/json";
import { count, cutToWidth, fitLine, relativeTime, visibleLine } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import type { Output } from "../output/output.ts";
import { visible, visiblePath } from "../output/visible.ts";

type FindCall = Pick<Call, "json" | "output" | "directory">;

/** More stretches of one file are only counted. */
const SHOWN_SPANS = 3;

/** Prints what was found, or that nothing was. */
export function printFindings(
  call: FindCall,
  workspace: Workspace,
  { isOfOne, ...found }: Findings & { readonly isOfOne: boolean },
): number {
  const { output } = call;
  const command: CommandOf = (verb, { path }, { last }) => {
    // as the person types it where the shell is
    const typed = relative(call.directory, join(workspace.root, pathJson(path).path));
    return shellWords(["belay", verb, String(last.seq), typed]);
  };
  if (call.json) output.json(findingsJson(found, command));
  else if (found.files.length === 0)
    output.print(`Nothing found in ${count(found.checkpoints, "checkpoint")}.`);
  else if (found.lines !== undefined) output.print(linesText(found.lines, output));
  else output.print(found.files.map((file) => fileText({ ...file, isOfOne }, output, command)).join("\n\n"));
  if (!call.json) printSum(found, output);
  return EXIT.done;
}

function printSum({ files, total, checkpoints, unreadable }: Findings, output: Output): void {
  if (total > files.length)
    output.note(output.noteStyle.dim(`… and ${total - files.length} more files: use --limit <n> or --all`));
  else if (total > 0)
    output.note(output.noteStyle.dim(`${count(total, "file")} in ${count(checkpoints, "checkpoint")}`));
  if (unreadable > 0)
    output.warn(
      `${count(unreadable, "damaged part")} of the store could not be searched; \`belay verify --full\` lists what is affected.`,
    );
}

type CommandOf = (verb: "cat" | "restore", file: FoundFile, span: FoundSpan) => string;

/** A file, and whether one checkpoint alone was searched. */
type ShownFile = FoundFile & { readonly isOfOne: boolean };

function fileText(file: ShownFile, output: Output, command: CommandOf): string {
  const { style, width } = output;
  const newest = file.spans[0]!;
  const room = Math.max(20, width - 8);
  const matching = newest.lines.map(
    (line, at) =>
      `${style.dim(`${newest.lineNumbers[at]}`.padStart(6))}  ${cutToWidth(visibleLine(line), room)}`,
  );
  const told = file.spans.slice(0, SHOWN_SPANS).flatMap((span) => spanLines(file, span));
  const rest = file.spans.length - SHOWN_SPANS;
  return [
    style.bold(visiblePath(file.path)),
    ...matching,
    ...(newest.binary ? ["  a binary file"] : []),
    ...told.map((line) => fitLine(`  ${line}`, width, "    ")),
    ...(rest > 0 ? [`  and ${count(rest, "earlier stretch", "earlier stretches")}`] : []),
    ...waysBack(file).map((verb) => `  ${style.dim("→")} ${command(verb, file, newest)}`),
  ].join("\n");
}

/** A file that has something else now is looked at first: a restore would replace all of it. */
function waysBack({ onDisk, spans }: FoundFile): readonly ("cat" | "restore")[] {
  if (onDisk) return [];
  return spans[0]!.gone?.how === "changed" ? ["cat", "restore"] : ["restore"];
}

function spanLines({ onDisk, spans, isOfOne }: ShownFile, span: FoundSpan): string[] {
  const { first, last, since, gone } = span;
  if (isOfOne)
    return [`in checkpoint ${last.seq}, ${relativeTime(last.at)}${onDisk ? ", and there now" : ""}`];
  const came = since === null ? [] : [since.ref === null ? "came by hand" : `came with ${causeText(since)}`];
  if (gone !== null) return [`${rangeText(span)}, until ${relativeTime(gone.at)}`, ...came, goneText(gone)];
  const isThere = span === spans[0] && onDisk;
  const state = isThere ? "there now" : `in the newest checkpoint, ${last.seq}, and no longer on disk`;
  return [`${state}, since checkpoint ${first.seq}, ${relativeTime(first.at)}`, ...came];
}

/** File by file: each line, when it was there, and whose it was. */
function linesText(lines: readonly FoundLine[], { style, width }: Output): string {
  const files = Map.groupBy(lines, ({ path }) => path);
  const texts = [...files].map(([path, found]) =>
    [
      style.bold(visiblePath(path)),
      ...found.flatMap((line) => [
        cutToWidth(`  ${visibleLine(line.text)}`, width),
        ...lineFacts(line).map((fact) => cutToWidth(`    ${style.dim(fact)}`, width)),
      ]),
    ].join("\n"),
  );
  return texts.join("\n\n");
}

function lineFacts({ first, last, addedBy, removedBy }: FoundLine): string[] {
  const range =
    last === null
      ? `since checkpoint ${first.seq}, ${relativeTime(first.at)}`
      : `${rangeText({ first, last })}, until ${relativeTime(last.at)}`;
  const came = addedBy && (addedBy.ref === null ? "came by hand" : `came with ${causeText(addedBy)}`);
  const went = removedBy && `taken out by ${causeText(removedBy)}`;
  return [range, ...(came ? [came] : []), ...(went ? [went] : [])];
}

function rangeText({ first, last }: Pick<FoundSpan, "first" | "last">): string {
  return first.seq === last.seq ? `in checkpoint ${first.seq}` : `in checkpoints ${first.seq} to ${last.seq}`;
}

const GONE: Readonly<Record<NonNullable<FoundSpan["gone"]>["how"], string>> = {
  deleted: "deleted",
  changed: "taken out",
  "left-out": "left out by the rules",
  "not-captured": "not captured",
  forgotten: "forgotten",
};

function goneText({ how, by, seq }: NonNullable<FoundSpan["gone"]>): string {
  const isDone = how === "deleted" || how === "changed";
  return isDone && by !== null ? `${GONE[how]} by ${causeText(by)}` : `${GONE[how]} since checkpoint ${seq}`;
}

function causeText({ ref, title, agent }: FoundCause): string {
  if (ref === null) return "hand";
  return `${ref}${agent === null ? "" : ` (${visible(agent)})`} “${visible(title)}”`;
}
