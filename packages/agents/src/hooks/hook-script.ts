/**
 * `$BELAY_HOME/bin/belay-hook`: what agents run. It names the runtime and the command by absolute path, so
 * that it works with any PATH, and is written anew by updates while its own path stays. It ends with 0 whatever
 * happens: an exit code of 2 would block the agent.
 *
 * Where there is a bash that can speak TCP, the script asks the resident process itself: it has its answer before
 * Node would have started. Whatever is out of the ordinary goes the long way, through `belay hook`.
 *
 * [R143] A port can be another user's by the time it is asked. So the script first says a word that only this user can
 * know and hears the other half of it; both are in the private `run/resident.json` and are made anew with every
 * start. A stranger learns a word that is worth nothing, and neither the token nor the event.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { NEUTRAL_ANSWER, SHELL_ANSWER_FORM } from "./answer-form.ts";
import { CLIENT_VARIABLE, MOST_SHELLS, SHELLS } from "./client-process.ts";
import { HOOK_MARK, quoteForShell } from "../settings/hook-file.ts";
import { writeOwnFile } from "../settings/settings-file.ts";

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
/** For what is left of an event that is too large for the short way. */
const CAT = "/bin/cat";
const LIST = "/bin/ls";

export function hookScript(script: HookScript, bash = BASH): string {
  const { belayHome, node, cli, build, environment = [] } = script;
  const [home, program, entry] = [belayHome, node, cli].map(quoteForShell);
  const isShort = build !== undefined && existsSync(bash) && existsSync(CAT);
  // -p: no start-up file of the user's
  return `#!${isShort ? `${bash} -p` : "/bin/sh"}
# Belay's hook for coding agents. Written by belay; changes are lost with the next update.
BELAY_HOME=${home}
export BELAY_HOME
${isShort ? `${FIND_CLIENT}${LOOK}${shortWay(build, environment)}` : `${CLIENT_VARIABLE}=\nexport ${CLIENT_VARIABLE}\n`}note_trouble() {
  mkdir -p -m 700 "$BELAY_HOME/agents" &&
    printf '{"at":"%s","agent":"%s","event":"%s","problem":"%s"}\\n' \\
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "$2" "$3" >>"$BELAY_HOME/agents/trouble.log"
}
long_way() {
  if [ -x ${program} ] && [ -f ${entry} ]; then
    ${program} ${entry} hook "$@"
  else
    printf '${NEUTRAL_ANSWER}\\n'
    note_trouble "$1" start "belay is not where it was: run belay init again"
  fi
}
${isShort ? ASK : `long_way "$@"`}
exit 0
`;
}

/** As `findClient` does it, without another process. */
const FIND_CLIENT = `find_client() {
  local LC_ALL=C pid=$PPID stat name facts count
  for ((count = 0; count < ${MOST_SHELLS} && pid > 1; count++)); do
    IFS= read -r -d '' stat <"/proc/$pid/stat"
    name=\${stat#*\\(} name=\${name%)*} facts=(\${stat##*) })
    [[ -n $stat ]] || return
    [[ " ${SHELLS} " == *" $name "* ]] || { ${CLIENT_VARIABLE}="$pid \${facts[19]}"; return; }
    pid=\${facts[1]}
  done
}
export ${CLIENT_VARIABLE}=
find_client 2>/dev/null
`;

/** How long the short way may take; what is left of the second is for the long way. */
const SHORT_WAY_MS = 600;
const ALL_MS = 950;
/** Larger events go the long way: the resident process takes bodies of a mebibyte. */
const MOST_BYTES = 800_000;

/** So much of an event is searched for the directory it is about: agents name it before anything long. */
const HEAD_BYTES = 4000;

/**
 * [R170] Functions that read the event, and tell whether it is certain that no protected directory is concerned: neither
 * the hook's own nor the one the event names is below a root, nor a linked worktree, nor a root that was moved.
 */
const LOOK = `read_input() {
  local LC_ALL=C
  IFS= read -r -d '' -N ${MOST_BYTES + 1} input
  [[ \${#input} -le ${MOST_BYTES} ]] || input+=$(${CAT})
}
is_unprotected() {
  local LC_ALL=C head=\${input:0:${HEAD_BYTES}} named='"(cwd|directory)" *: *"([^"\\]+)"' roots
  [[ \${BASH_VERSINFO[0]} -ge 5 && $1 != cursor && -f $BELAY_HOME/roots && -O $BELAY_HOME/roots ]] || return
  [[ $head != *conversation_id* && $head != *UserPromptExpansion* ]] || return
  mapfile -d '' -t roots <"$BELAY_HOME/roots" || return
  is_outside "$PWD" || return
  if [[ $head =~ $named ]]; then
    is_outside "\${BASH_REMATCH[2]}"
  else
    [[ \${#input} -le ${HEAD_BYTES} && $head != *'"cwd"'* && $head != *'"directory"'* ]]
  fi
}
# [R170] true when the directory has nothing to do with any of the roots
is_outside() {
  local here=$PWD at root moved= inode _
  cd -P -- "$1" || return
  at=$PWD
  cd -- "$here" || return
  set --
  for root in "\${roots[@]}"; do
    [[ $at/ != "\${root#* }"/* ]] || return
    [[ -d \${root#* } ]] || moved+=" \${root%% *} "
  done
  while [[ -n $at ]]; do
    [[ ! -f $at/.git ]] || return
    set -- "$@" "$at"
    at=\${at%/*}
  done
  [[ -n $moved ]] || return 0
  [[ -x ${LIST} ]] || return
  while read -r inode _; do
    [[ $moved != *" $inode "* ]] || return
  done < <(${LIST} -di -- "$@")
}
`;

/** A function that sets `answer`, or fails. Bytes are counted as such, and nothing is said to the agent's user. */
function shortWay(build: string, environment: readonly string[]): string {
  return `short_way() {
  local LC_ALL=C plain='^[!-~]([ -~]*[!-~])?$' word='"([A-Za-z0-9_-]+)"' facts name variables= line
  local size=$'\\r\\n[Cc]ontent-[Ll]ength: ([0-9]+)\\r\\n'
  local run=$BELAY_HOME/run/resident.json build=${quoteForShell(build)}
  [[ \${BASH_VERSINFO[0]} -ge 5 && $# -eq 1 && $1 =~ ^[a-z-]+$ && $PWD =~ $plain ]] || return
  [[ \${#input} -gt 0 && \${#input} -le ${MOST_BYTES} && -f $build && -f $run && -O $run ]] || return
  [[ ! $build -nt $run && ! -d $BELAY_HOME/agents/overdue && -z $BELAY_WAIT_MS ]] || return
  IFS= read -r facts <"$run"
  [[ $facts =~ \\"url\\":\\"http://127\\.0\\.0\\.1:([0-9]+)\\",\\"token\\":$word,\\"hello\\":$word,\\"proof\\":$word ]] || return
  local port=\${BASH_REMATCH[1]} token=\${BASH_REMATCH[2]} hello=\${BASH_REMATCH[3]} proof=\${BASH_REMATCH[4]}
  for name in ${environment.map((prefix) => `\${!${prefix}@}`).join(" ")}; do
    [[ -z \${!name} || \${!name} =~ $plain ]] || return
    variables+=$name=\${!name}$'\\t'
  done
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return
  began=\${EPOCHREALTIME/[.,]/}
  send "GET /hello HTTP/1.1" "host: 127.0.0.1:$port" "authorization: Bearer $hello" "" || return
  read_line && [[ $line == "HTTP/1.1 204 $proof"$'\\r' ]] && skip_headers || return
  sent_as=\${began:0:13}-$$
  send "POST /api/hooks/$1/event HTTP/1.1" "host: 127.0.0.1:$port" "authorization: Bearer $token" \\
    "connection: close" "x-belay-cwd: $PWD" "x-belay-environment: $variables" "x-belay-wait: $sent_as" \\
    "content-type: application/json" "content-length: $((\${#input} + 2))" "" "$input" || return
  read_all && [[ $line == 'HTTP/1.1 200 '* && $line =~ $size ]] || return
  answer=\${line#*$'\\r\\n\\r\\n'}
  [[ \${#answer} -eq \${BASH_REMATCH[1]} ]]
}
# in one piece: bash writes up to the last end of a line at once, and what follows would wait for an answer to that
send() {
  local text
  printf -v text '%s\\r\\n' "$@"
  printf '%s' "$text" >&3
}
spent_ms() {
  spent=$(((\${EPOCHREALTIME/[.,]/} - began) / 1000))
}
left() {
  local spent
  spent_ms
  left=$((${SHORT_WAY_MS} - spent))
  [[ $left -gt 0 ]] && printf -v left '0.%03d' "$left"
}
read_line() {
  local left
  left && IFS= read -r -n ${LONGEST_LINE} -t "$left" -u 3 line
}
# to the end at once: line by line, bash would read byte by byte
read_all() {
  local left
  left || return
  IFS= read -r -d '' -N ${LONGEST_ANSWER} -t "$left" -u 3 line
  [[ $? -le 1 ]]
}
skip_headers() {
  while read_line && [[ $line != $'\\r' ]]; do :; done
  [[ $line == $'\\r' ]]
}
is_answer() {
  local LC_ALL=C form=${quoteForShell(SHELL_ANSWER_FORM)}
  [[ $1 == '${NEUTRAL_ANSWER}' || $1 =~ $form ]]
}
`;
}

const LONGEST_LINE = 2000;
const LONGEST_ANSWER = 1_000_000;

const ASK = `trap '' PIPE
{ read_input; } 2>/dev/null
if is_unprotected "$@" 2>/dev/null; then
  printf '${NEUTRAL_ANSWER}'
elif short_way "$@" 2>/dev/null; then
  if is_answer "$answer"; then
    printf '%s' "$answer"
  else
    printf '${NEUTRAL_ANSWER}'
    note_trouble "$1" answer "the resident process gave an answer that no agent is given; it was left out" 2>/dev/null
  fi
else
  exec 3>&-
  if [[ -n $began ]]; then
    spent_ms
    export BELAY_WAIT_MS=$((${ALL_MS} - spent))
  fi
  [[ -z $sent_as ]] || export BELAY_EVENT=$sent_as
  printf '%s' "$input" | long_way "$@"
fi`;

/** Puts the script in its place, if it is not there as it should be. */
export function writeHookScript(script: HookScript): string {
  const path = join(script.belayHome, HOOK_MARK);
  const text = hookScript(script);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeOwnFile(path, text, 0o755);
  return path;
}
