/**
 * `$BELAY_HOME/bin/belay-hook`: what agents run. It names the runtime and the command by absolute path, so
 * that it works with any PATH, and is written anew by updates while its own path stays. It ends with 0 whatever
 * happens: an exit code of 2 would block the agent.
 */
import { join } from "node:path";
import { HOOK_MARK, quoteForShell } from "./hook-file.ts";
import { writeAtomically } from "./settings-file.ts";

export interface HookScript {
  readonly belayHome: string;
  /** The pinned Node. */
  readonly node: string;
  /** The command's entry, `dist/main.js` or the launcher. */
  readonly cli: string;
}

export function hookScript({ belayHome, node, cli }: HookScript): string {
  const [home, program, entry] = [belayHome, node, cli].map(quoteForShell);
  return `#!/bin/sh
# Belay's hook for coding agents. Written by belay; changes are lost with the next update.
BELAY_HOME=${home}
export BELAY_HOME
if [ -x ${program} ] && [ -f ${entry} ]; then
  ${program} ${entry} hook "$@"
else
  printf '{}\\n'
  mkdir -p "$BELAY_HOME/agents" &&
    printf '{"at":"%s","agent":"%s","event":"start","problem":"belay is not where it was: run belay init again"}\\n' \\
      "$(date -u +%Y-%m-%dT%H:%M:%SZ)" "$1" >>"$BELAY_HOME/agents/trouble.log"
fi
exit 0
`;
}

/** Puts the script in its place, if it is not there as it should be. */
export function writeHookScript(script: HookScript): string {
  const path = join(script.belayHome, HOOK_MARK);
  writeAtomically(path, hookScript(script), 0o755);
  return path;
}
