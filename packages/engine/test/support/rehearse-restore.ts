/** A restore that is known call by call, so that a test can fail or stop it at one of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace } from "../../src/index.ts";
import type { FaultLab } from "./fault-lab.ts";

/** The files that the restore rewrites. */
export const REHEARSED_FILES = ["a", "b", "c", "d"];

/** Makes a project whose restore to checkpoint 1 rewrites four files, plays it once, and puts everything back; its calls. */
export async function rehearseRestore(lab: FaultLab): Promise<readonly string[]> {
  const writeAll = (content: string) =>
    REHEARSED_FILES.forEach((name) => writeFileSync(join(lab.root, name), content));
  writeAll("0\n");
  const workspace = await openWorkspace(lab.root, { home: lab.home });
  writeAll("1\n");
  await workspace.close();
  lab.keep("start");
  lab.counted = [lab.root];
  const { calls } = await lab.run("restore");
  lab.putBack("start");
  return calls;
}
