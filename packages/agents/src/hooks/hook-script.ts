/**
 * `$BELAY_HOME/bin/belay-hook`: what agents run. It names the runtime and the command by absolute path, so that it works
 * with any PATH. Updates rewrite it; its own path stays. It always ends with 0: an exit code of 2 would block the agent.
 *
 * The script is the first half of an event's journey (`events/event-journey.ts`). Where there is a bash that can speak TCP, it
 * asks the resident process itself and has its answer before Node would have started. Anything unusual goes to
 * `belay hook`. An agent waits for every line here: no line starts a process, one test of a pattern is ten times as quick as
 * one of a regular expression, and a locale of bytes is set once.
 *
 * [R143] After a crash, another user can hold the port. So the script first sends a secret that is worth nothing else and
 * expects the other half of it. Both are in the private `run/resident.json` and change with every start. A stranger
 * learns neither the token nor the event.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DEADLINES, MOST_EVENT_BYTES } from "../events/event-journey.ts";
import { NEUTRAL_ANSWER, SHELL_ANSWER_FORM } from "./answer-form.ts";
import { CLIENT_VARIABLE, MOST_SHELLS, SHELLS } from "./client-process.ts";
import { HOOK_MARK, quoteForShell } from "../settings/hook-file.ts";
import { writeOwnFile } from "../settings/settings-file.ts";

/** What the script has to name. */
export interface HookScript {
  readonly belayHome: string;
  /** The pinned Node. */
  readonly node: string;
  /** The command's entry, `dist/main.js` or the launcher. */
  readonly cli: string;
  /** A file that every build rewrites: a resident process that started before that runs older code. */
  readonly build?: string;
  /** Prefixes of the variables that adapters look at. */
  readonly environment?: readonly string[];
}

const BASH = "/bin/bash";
/** Reads the rest of an event that is too large for the resident process. */
const CAT = "/bin/cat";
const LIST = "/bin/ls";

/** The text of the script. */
export function hookScript(script: HookScript, bash = BASH): string {
  const { belayHome, node, cli, build, environment = [] } = script;
  const [home, program, entry] = [belayHome, node, cli].map(quoteForShell);
  const asks = build !== undefined && existsSync(bash) && existsSync(CAT);
  // -p: no start-up file of the user's
  return `#!${asks ? `${bash} -p` : "/bin/sh"}
# Belay's hook for coding agents. Written by belay; changes are lost with the next update.
BELAY_HOME=${home}
export BELAY_HOME
${asks ? `${FIND_CLIENT}${LOOK}${askResident(build, environment)}` : `${CLIENT_VARIABLE}=\nexport ${CLIENT_VARIABLE}\n`}note_trouble() {
  mkdir -p -m 700 "$BELAY_HOME/agents" &&
    printf '{"at":"%s","agent":"%s","event":"%s","problem":"%s"}\\n' \\
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" "$2" "$3" >>"$BELAY_HOME/agents/trouble.log"
}
deliver() {
  if [ -x ${program} ] && [ -f ${entry} ]; then
    ${program} ${entry} hook "$@"
  else
    printf '${NEUTRAL_ANSWER}\\n'
    note_trouble "$1" start "the belay command was moved: run belay init again"
  fi
}
${asks ? JOURNEY : `deliver "$@"`}
exit 0
`;
}

/** As `findClient` does it, without another process. A name with spaces shifts the fields: it takes a closer look. */
const FIND_CLIENT = `LC_ALL=C
find_client() {
  local pid=$PPID stat name state parent started count
  for ((count = 0; count < ${MOST_SHELLS} && pid > 1; count++)); do
    read -r _ name state parent _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ started _ <"/proc/$pid/stat" || return
    if [[ $name != \\(*\\) || $state != [A-Za-z] || $parent == *[!0-9]* ]]; then
      IFS= read -r -d '' stat <"/proc/$pid/stat"
      name=\${stat#*\\(} name="(\${name%)*})" stat=(\${stat##*) })
      parent=\${stat[1]} started=\${stat[19]}
    fi
    [[ " ${SHELLS} " == *" \${name:1:-1} "* ]] || { ${CLIENT_VARIABLE}="$pid $started"; return; }
    pid=$parent
  done
}
export ${CLIENT_VARIABLE}=
`;

/** So much of an event is searched for the directory it is about: agents name it before anything long. */
const HEAD_BYTES = 4000;

/**
 * [R170] The state `looking`: functions that read the event, and tell whether it is certain that no protected directory is
 * concerned. Neither the hook's own directory nor the one the event names is below a root, a linked worktree, or a root
 * that was moved.
 */
const LOOK = `read_input() {
  IFS= read -r -d '' -N ${MOST_EVENT_BYTES + 1} input
  [[ \${#input} -le ${MOST_EVENT_BYTES} ]] || input+=$(${CAT})
}
is_unprotected() {
  local head=\${input:0:${HEAD_BYTES}} named='"(cwd|directory)" *: *"([^"\\]+)"' roots
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

/**
 * The state `asking`: a function that sets `answer`, or fails. Of `run/resident.json`, the names and values between the
 * quotes are read as words, whatever their order. The proof is compared as a whole, with its header (`answerHello` of the server).
 */
function askResident(build: string, environment: readonly string[]): string {
  return `ask_resident() {
  local run=$BELAY_HOME/run/resident.json build=${quoteForShell(build)} words url= token= hello= proof= port name at variables= line expected
  [[ \${BASH_VERSINFO[0]} -ge 5 && $# -eq 1 && $1 != *[!a-z-]* ]] && is_plain "$PWD" || return
  [[ \${#input} -gt 0 && \${#input} -le ${MOST_EVENT_BYTES} && -f $build && -f $run && -O $run ]] || return
  [[ ! $build -nt $run && ! -d $BELAY_HOME/agents/overdue && -z $BELAY_WAIT_MS ]] || return
  IFS=\\" read -r -a words <"$run"
  for ((at = 1; at < \${#words[@]}; at++)); do
    case \${words[at]}\${words[at + 1]} in
      url: | token: | hello: | proof:) printf -v "\${words[at]}" %s "\${words[at + 2]}" ;;
    esac
  done
  port=\${url#http://127.0.0.1:}
  [[ -n $port && $port != *[!0-9]* && -n $token && -n $hello && -n $proof ]] || return
  [[ $token$hello$proof != *[!A-Za-z0-9_-]* ]] || return
  find_client
  for name in ${environment.map((prefix) => `\${!${prefix}@}`).join(" ")}; do
    is_plain "\${!name}" || return
    variables+=$name=\${!name}$'\\t'
  done
  exec 3<>"/dev/tcp/127.0.0.1/$port" || return
  began=\${EPOCHREALTIME/[.,]/}
  send "GET /hello HTTP/1.1" "host: 127.0.0.1:$port" "authorization: Bearer $hello" "" || return
  printf -v expected '%s\\r\\n' "HTTP/1.1 204 $proof" "Connection: keep-alive" ""
  receive \${#expected} && [[ $line == "$expected" ]] || return
  sent_as=\${began:0:13}-$$
  send "POST /api/hooks/$1/event HTTP/1.1" "host: 127.0.0.1:$port" "authorization: Bearer $token" \\
    "connection: close" "x-belay-cwd: $PWD" "x-belay-environment: $variables" "x-belay-wait: $sent_as" \\
    "content-type: application/json" "content-length: $((\${#input} + 2))" "" "$input" || return
  receive ${LONGEST_ANSWER} && [[ $line == 'HTTP/1.1 200 '* ]] || return
  answer=\${line#*$'\\r\\n\\r\\n'} line=\${line,,}
  line=\${line#*$'\\r\\n'content-length: }
  [[ \${line%%$'\\r\\n'*} == "\${#answer}" ]]
}
# can be the value of a header as it is
is_plain() {
  [[ $1 != *[!\\ -~]* && $1 != ' '* && $1 != *' ' ]]
}
# in one piece: bash writes up to the last end of a line at once, and what follows would wait for an answer to that
send() {
  local text
  printf -v text '%s\\r\\n' "$@"
  echo -n "$text" >&3
}
spent_ms() {
  spent=$(((\${EPOCHREALTIME/[.,]/} - began) / 1000))
}
# so many bytes, or what comes before the end; line by line, bash would read byte by byte
receive() {
  local spent left
  spent_ms
  left=$((${DEADLINES.ASK_MS} - spent))
  [[ $left -gt 0 ]] || return
  printf -v left '0.%03d' "$left"
  IFS= read -r -d '' -N "$1" -t "$left" -u 3 line
  [[ $? -le 1 ]]
}
is_answer() {
  local form=${quoteForShell(SHELL_ANSWER_FORM)}
  [[ $1 == '${NEUTRAL_ANSWER}' || $1 =~ $form ]]
}
`;
}

const LONGEST_ANSWER = 1_000_000;

/** The way through the states; what goes wrong on it is not shown to the agent's user. */
const JOURNEY = `trap '' PIPE
exec 4>&2 2>/dev/null
read_input
if is_unprotected "$@"; then
  printf '${NEUTRAL_ANSWER}'
elif ask_resident "$@"; then
  if is_answer "$answer"; then
    printf '%s' "$answer"
  else
    printf '${NEUTRAL_ANSWER}'
    note_trouble "$1" answer "the resident process gave an answer of a form that agents never get; it was dropped"
  fi
else
  [[ -n $${CLIENT_VARIABLE} ]] || find_client
  exec 3>&- 2>&4 4>&-
  if [[ -n $began ]]; then
    spent_ms
    export BELAY_WAIT_MS=$((${DEADLINES.SCRIPT_MS} - spent))
  fi
  [[ -z $sent_as ]] || export BELAY_EVENT=$sent_as
  printf '%s' "$input" | deliver "$@"
fi`;

/** Puts the script in its place, if it is not there as it should be. */
export function writeHookScript(script: HookScript): string {
  const path = join(script.belayHome, HOOK_MARK);
  const text = hookScript(script);
  if (!existsSync(path) || readFileSync(path, "utf8") !== text) writeOwnFile(path, text, 0o755);
  return path;
}
