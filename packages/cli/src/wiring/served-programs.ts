/** The programs of the settings that look at merges which are planned over HTTP. */
import { readProgramSettings, type MergePrograms } from "@belay/engine";
import { checkWith } from "@belay/agents/orchestration";

/** The program that checks the merges of the resident process, by the settings; undefined where they name none. */
export function servedPrograms(home: string, workspace: string): MergePrograms | undefined {
  const { check } = readProgramSettings(home, workspace).merge;
  return check.length === 0 ? undefined : { check: checkWith(check, { environment: process.env }) };
}
