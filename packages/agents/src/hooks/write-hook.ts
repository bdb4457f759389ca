/**
 * `$BELAY_HOME/bin/belay-hook`: what agents run. Where there was a C compiler it is a program (`native/belay-hook.c`), the
 * first half of an event's journey (`events/event-journey.ts`): it asks the resident process itself. Anything unusual goes to
 * the script beside it, which starts `belay hook`. Without the program, agents run that script. Updates rewrite
 * these files; the path that agents know stays.
 *
 * [R143] The program connects to the socket in the private `run`, and the kernel confirms that this user listens there.
 * Nothing is sent to anything else.
 */
import { spawnSync } from "node:child_process";
import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { DEADLINES, MOST_EVENT_BYTES } from "../events/event-journey.ts";
import { NEUTRAL_ANSWER, POSIX_ANSWER_FORM } from "./answer-form.ts";
import { CLIENT_VARIABLE, MOST_SHELLS, SHELLS } from "./client-process.ts";
import { HOOK_MARK, quoteForShell } from "../settings/hook-file.ts";
import { writeOwnFile } from "../settings/settings-file.ts";

/** What a hook has to know. */
export interface Hook {
  readonly belayHome: string;
  /** The pinned Node. */
  readonly node: string;
  /** The command's entry, `dist/main.js` or the launcher. */
  readonly cli: string;
  /** A file that every build rewrites: a resident process that started before that runs older code. */
  readonly build: string;
  /** Prefixes of the variables that adapters look at. */
  readonly environment: readonly string[];
  /** The compiled program; there may be no such file. */
  readonly program: string;
}

/** So much of an event is searched for the directory it is about: agents name it before anything long. */
const HEAD_BYTES = 4000;

/** Puts the hook in its place, if it is not there as it should be, and says where that is. */
export function writeHook(hook: Hook): string {
  const path = join(hook.belayHome, HOOK_MARK);
  const isCompiled = isUsable(hook, path);
  keepFile(`${path}.facts`, hookFacts(hook), 0o600);
  if (isCompiled) {
    keepFile(`${path}-long`, hookScript(hook, { isCompiled }), 0o755);
    // an agent that is running the old one goes on with it
    if (!isCopy(path, hook.program)) writeOwnFile(path, readFileSync(hook.program), 0o755);
  } else {
    // a program that is running just now still finds the script that it came with
    keepFile(path, hookScript(hook, { isCompiled }), 0o755);
  }
  return path;
}

/** One that is not installed yet is tried. Without facts it prints {}. */
function isUsable({ belayHome, build, program }: Hook, path: string): boolean {
  if (!existsSync(program) || /\n/.test(belayHome + build)) return false;
  if (isCopy(path, program)) return true;
  // never started if it is for another machine: the C library would have a shell read it as a script
  return kindOf(program) === kindOf(process.execPath) && asked(program) === NEUTRAL_ANSWER;
}

/** For which machines a program is, as its header (ELF) says. */
function kindOf(program: string): string {
  const header = Buffer.alloc(20);
  const file = openSync(program, "r");
  readSync(file, header);
  closeSync(file);
  return [header.subarray(0, 6), header.subarray(18)].map((bytes) => bytes.toString("hex")).join(" ");
}

function asked(program: string): string {
  return spawnSync(program, { input: "", encoding: "utf8" }).stdout ?? "";
}

/** What the program reads, and opencode's plugin. */
function hookFacts({ belayHome, build, environment }: Hook): string {
  const facts = {
    home: belayHome,
    build,
    environment: environment.join(" "),
    shells: ` ${SHELLS} `,
    "most-shells": MOST_SHELLS,
    "most-bytes": MOST_EVENT_BYTES,
    "head-bytes": HEAD_BYTES,
    "ask-ms": DEADLINES.ASK_MS,
    "hook-ms": DEADLINES.HOOK_MS,
    form: POSIX_ANSWER_FORM,
  };
  return Object.entries(facts)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");
}

/**
 * Starts `belay hook` by absolute path, so that it works with any PATH. It always ends with 0: an exit code of 2 would block
 * the agent. The program names the agent's process; run without it, the script clears what the agent's own environment says.
 */
function hookScript({ belayHome, node, cli }: Hook, { isCompiled }: { isCompiled: boolean }): string {
  const [home, runtime, entry] = [belayHome, node, cli].map(quoteForShell);
  return `#!/bin/sh
# Belay's hook for coding agents. Written by belay; changes are lost with the next update.
BELAY_HOME=${home}
export BELAY_HOME
${isCompiled ? "" : `${CLIENT_VARIABLE}=\nexport ${CLIENT_VARIABLE}\n`}note_trouble() {
  mkdir -p -m 700 "$BELAY_HOME/agents" &&
    printf '{"at":"%s","agent":"%s","event":"%s","problem":"%s"}\\n' \\
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "$2" "$3" >>"$BELAY_HOME/agents/trouble.log"
}
if [ "$1" = --trouble ]; then
  note_trouble "$2" "$3" "$4"
elif [ -x ${runtime} ] && [ -f ${entry} ]; then
  ${runtime} ${entry} hook "$@"
else
  printf '${NEUTRAL_ANSWER}\\n'
  note_trouble "$1" start "the belay command was moved: run belay init again"
fi
exit 0
`;
}

function keepFile(path: string, text: string, mode: number): void {
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeOwnFile(path, text, mode);
}

function isCopy(path: string, original: string): boolean {
  const there = statSync(path, { throwIfNoEntry: false });
  return (
    there !== undefined && (there.mode & 0o777) === 0o755 && readFileSync(path).equals(readFileSync(original))
  );
}
