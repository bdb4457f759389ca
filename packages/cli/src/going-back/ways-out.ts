/** What can be typed when there are conflicts: do the rest, or take the other version. */
import { join, relative } from "node:path";
import type { Conflict, Plan } from "@belay/engine";
import type { Call } from "../call/command.ts";
import { count } from "@belay/tui/text";
import { shellWords } from "@belay/protocol/command-text";

/** A command that goes back. */
export type Verb = "restore" | "reset" | "undo" | "redo" | "revert" | "switch";

/** A command that resolves conflicts, and what it does. */
export interface WayOut {
  readonly command: string;
  readonly does: string;
}

/** What was refused. */
export interface Refused {
  readonly verb: Verb;
  readonly conflicts: Plan["conflicts"];
  readonly root: string;
  /** True when the rest is done already. */
  readonly done: boolean;
}

type Typed = Pick<Call, "operands" | "directory"> & {
  readonly options: Readonly<Record<string, unknown>>;
};

/** The commands that resolve these conflicts. */
export function waysOut(call: Typed, { verb, conflicts, root, done }: Refused): WayOut[] {
  if (done) return exactRestore(call, conflicts, root);
  const rest = {
    command: shellWords([...typedAgain(call, verb), "--best-effort"]),
    does: "does the rest and leaves these as they are",
  };
  if (conflicts.some(({ reason }) => reason === "cannot be saved" || reason === "changed while restoring"))
    return [
      rest,
      {
        command: shellWords(typedAgain(call, verb)),
        does: "tries again once they are readable and no longer being written",
      },
    ];
  const shared = conflicts.some(({ reason }) => reason === "shared with another thread");
  return [
    ...together(call, verb, conflicts),
    rest,
    ...(shared
      ? [{ command: shellWords([...typedAgain(call, verb), "--include-shared"]), does: "takes these too" }]
      : []),
    ...mergedAnyway(call, verb, conflicts),
    ...exactRestore(call, conflicts, root),
  ];
}

/** Takes the merge of both sides as it is. */
function mergedAnyway(call: Typed, verb: Verb, conflicts: readonly Conflict[]): WayOut[] {
  const broken = conflicts.filter(({ reason }) => reason === "the merge would not parse").length;
  if (broken === 0) return [];
  const which = broken === conflicts.length ? "them" : `the ${count(broken, "file")} that would not parse`;
  const command = shellWords([...typedAgain(call, verb), "--merge-anyway"]);
  return [{ command, does: `merges ${which} anyway, for you to repair` }];
}

/** Takes the steps that share a file as one. */
function together(call: Typed, verb: Verb, conflicts: readonly Conflict[]): WayOut[] {
  const counts = conflicts.flatMap(({ together: steps }) => steps ?? []);
  if (counts.length === 0 || counts.length < conflicts.length) return [];
  const most = Math.max(...counts);
  const turns = new Set(conflicts.flatMap(({ sharedWith }) => sharedWith ?? []).map(({ id }) => id)).size;
  const what = turns === 1 ? "takes both turns" : "takes all of these turns";
  return [{ command: shellWords([...place(call), verb, String(most)]), does: `${what} together` }];
}

const NAMED_PATHS = 3;

/** Restores the wanted version over the present one; of several checkpoints, the one that has most paths. */
function exactRestore(call: Typed, conflicts: readonly Conflict[], root: string): WayOut[] {
  const held = conflicts.filter(({ restoreFrom }) => restoreFrom !== undefined);
  const [group] = [...Map.groupBy(held, ({ restoreFrom }) => restoreFrom!)].sort(
    ([, a], [, b]) => b.length - a.length,
  );
  if (group === undefined) return [];
  const [checkpoint, those] = group;
  const paths = those.slice(0, NAMED_PATHS).map(({ path }) => fromHere(call, root, path));
  const command = [...place(call), "restore", checkpoint.slice(0, 8), ...operandsOf(paths)];
  const which = those.length > NAMED_PATHS ? " (name the others too)" : "";
  return [
    { command: shellWords(command), does: `takes the wanted version instead of what is there now${which}` },
  ];
}

function fromHere({ directory }: Typed, root: string, path: Conflict["path"]): string {
  return relative(directory, join(root, Buffer.from(path, "latin1").toString("utf8")));
}

/** Options that change how a command reports, not what it does. */
const LEFT_OUT = new Set([
  "json",
  "quiet",
  "yes",
  "dry-run",
  "best-effort",
  "all",
  "directory",
  "home",
  "patch",
  "interactive",
]);

/** The command as it was typed, without options that only concern its report. */
function typedAgain(call: Typed, verb: Verb): string[] {
  const options = Object.entries(call.options).flatMap(([name, value]) => {
    if (LEFT_OUT.has(name) || value === undefined || value === false) return [];
    return value === true ? [`--${name}`] : [`--${name}`, String(value)];
  });
  return [...place(call), verb, ...options, ...operandsOf(call.operands)];
}

/** The `-C` of the command, if given. */
function place({ options }: Typed): string[] {
  const of = (name: string, word: string) => (typeof options[name] === "string" ? [word, options[name]] : []);
  return ["belay", ...of("directory", "-C"), ...of("home", "--home")];
}

function operandsOf(operands: readonly string[]): string[] {
  return operands.some((operand) => operand.startsWith("-")) ? ["--", ...operands] : [...operands];
}
