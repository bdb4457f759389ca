/**
 * `$BELAY_HOME/bin/belay-hook`: what agents run. It names the runtime and the command by absolute path, so
 * that it works with any PATH, and is written anew by updates while its own path stays. It ends with 0 whatever
 * happens: an exit code of 2 would block the agent.
 *
 * Where there is a bash that can speak TCP, the script asks the resident process itself: it has its answer before
 * Node would have started. Whatever is out of the ordinary goes the long way, through `belay hook`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { HOOK_MARK, quoteForShell } from "./hook-file.ts";
import { writeAtomically } from "./settings-file.ts";

export interface HookScript {
  readonly belayHome: string;
  /** The pinned Node. */
  readonly node: string;
  /** The command's entry, `dist/main.js` or the launcher. */
  readonly cli: string;
  /** A file that every build writes anew: a resident process that is older than it is another program. */
  readonly build?: string;
  /** How the variables begin that are passed on. */
  readonly environment?: readonly string[];
}

const BASH = "/bin/bash";
/** An agent's pipe may be a socket, which has no name to open it by, and bash alone would read it byte by byte. */
const CAT = "/bin/cat";

export function hookScript(script: HookScript, bash = BASH): string {
  const { belayHome, node, cli, build, environment = [] } = script;
  const [home, program, entry] = [belayHome, node, cli].map(quoteForShell);
  const isShort = build !== undefined && existsSync(bash) && existsSync(CAT);
  // -p: no start-up file of the user's
  return `#!${isShort ? `${bash} -p` : "/bin/sh"}
# Belay's hook for coding agents. Written by belay; changes are lost with the next update.
BELAY_HOME=${home}
export BELAY_HOME
${isShort ? shortWay(build, environment) : ""}long_way() {
  if [ -x ${program} ] && [ -f ${entry} ]; then
    ${program} ${entry} hook "$@"
  else
    printf '{}\\n'
    mkdir -p "$BELAY_HOME/agents" &&
      printf '{"at":"%s","agent":"%s","event":"start","problem":"belay is not where it was: run belay init again"}\\n' \\
        "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" >>"$BELAY_HOME/agents/trouble.log"
  fi
}
${isShort ? ASK : `long_way "$@"`}
exit 0
`;
}

/** How long the short way may take, in seconds; what is left of the second is for the long way. */
const SHORT_WAY_SECONDS = 0.6;
const LONG_WAY_AFTER_MS = 350;
/** Larger events go the long way: the resident process takes bodies of a mebibyte. */
const MOST_BYTES = 800_000;

/** A function that sets `answer`, or fails. Bytes are counted as such, and nothing is said to the agent's user. */
function shortWay(build: string, environment: readonly string[]): string {
  return `short_way() {
  local LC_ALL=C plain='^[!-~]([ -~]*[!-~])?$' facts name variables= id status line length=
  local run=$BELAY_HOME/run/resident.json build=${quoteForShell(build)}
  [[ \${BASH_VERSINFO[0]} -ge 5 && $# -eq 1 && $1 =~ ^[a-z-]+$ && $PWD =~ $plain ]] || return
  [[ \${#input} -gt 0 && \${#input} -le ${MOST_BYTES} && -f $build && -f $run ]] || return
  [[ ! $build -nt $run && ! -d $BELAY_HOME/agents/overdue && -z $BELAY_WAIT_MS ]] || return
  facts=$(<"$run")
  [[ $facts =~ \\"url\\":\\"http://127\\.0\\.0\\.1:([0-9]+)\\",\\"token\\":\\"([A-Za-z0-9_-]+)\\" ]] || return
  local port=\${BASH_REMATCH[1]} token=\${BASH_REMATCH[2]}
  for name in ${environment.map((prefix) => `\${!${prefix}@}`).join(" ")}; do
    [[ -z \${!name} || \${!name} =~ $plain ]] || return
    variables+=$name=\${!name}$'\\t'
  done
  id=\${EPOCHREALTIME/[.,]/}
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return
  sent_as=\${id:0:13}-$$
  printf 'POST /api/hooks/%s/event HTTP/1.1\\r\\nhost: 127.0.0.1:%s\\r\\nauthorization: Bearer %s\\r\\nconnection: close\\r\\nx-belay-cwd: %s\\r\\nx-belay-environment: %s\\r\\nx-belay-wait: %s\\r\\ncontent-type: application/json\\r\\ncontent-length: %s\\r\\n\\r\\n%s' \\
    "$1" "$port" "$token" "$PWD" "$variables" "$sent_as" \${#input} "$input" >&3 || return
  IFS= read -r -t ${SHORT_WAY_SECONDS} -u 3 status && [[ $status == 'HTTP/1.1 200 '* ]] || return
  while IFS= read -r -t 0.1 -u 3 line && [[ $line != $'\\r' ]]; do
    [[ $line =~ ^[Cc]ontent-[Ll]ength:\\ ([0-9]+) ]] && length=\${BASH_REMATCH[1]}
  done
  [[ -n $length ]] || return
  IFS= read -r -d '' -n "$length" -t 0.1 -u 3 answer
  [[ \${#answer} -eq $length ]]
}
`;
}

const ASK = `trap '' PIPE
{ input=$(${CAT}); } 2>/dev/null
if short_way "$@" 2>/dev/null; then
  printf '%s' "$answer"
else
  exec 3>&-
  [[ -z $sent_as ]] || export BELAY_EVENT=$sent_as BELAY_WAIT_MS=${LONG_WAY_AFTER_MS}
  printf '%s' "$input" | long_way "$@"
fi`;

/** Puts the script in its place, if it is not there as it should be. */
export function writeHookScript(script: HookScript): string {
  const path = join(script.belayHome, HOOK_MARK);
  const text = hookScript(script);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeAtomically(path, text, 0o755);
  return path;
}
