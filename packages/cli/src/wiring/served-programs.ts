/** The programs of the settings that look at merges which are planned over HTTP. */
import { readProgramSettings, type MergePrograms } from "@belay/engine";
import { checkWith } from "@belay/agents/orchestration";

/** The check of the settings; undefined where there is none. */
export function servedPrograms(home: string, workspace: string): MergePrograms | undefined {
  const { check } = readProgramSettings(home, workspace).merge;
  return check.length === 0 ? undefined : { check: checkWith(check, { environment: process.env }) };
}
