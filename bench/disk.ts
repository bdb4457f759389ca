/** Bytes on disk of an evolving project: the same history in Belay's store and in a shadow repository. */
import { openWorkspace } from "@belay/engine";
import { join } from "node:path";
import { Belay } from "./belay.ts";
import { diskBytes, mib, type Row } from "./measure.ts";
import { changeFiles, createProject } from "./project.ts";
import { measureSearch, plantNeedle } from "./search.ts";
import { ShadowGit } from "./shadow-git.ts";

/** Sizes before and after gc, and what a search through the history takes. */
export async function measureDisk(
  place: string,
  { files, checkpoints, rounds }: { files: number; checkpoints: number; rounds: number },
): Promise<Row[]> {
  const project = createProject(join(place, "evolving"), files, 77);
  const home = join(place, "evolving-home");
  const git = new ShadowGit(join(place, "evolving-shadow"), project.root);
  git.create();
  await using workspace = await openWorkspace(project.root, { home });
  git.checkpoint();
  for (let i = 1; i < checkpoints; i += 1) {
    changeFiles(project, 10);
    plantNeedle(project, i, checkpoints);
    await workspace.checkpoint();
    git.checkpoint();
  }
  const work = `${checkpoints} checkpoints on disk`;
  const sizes = () => ({ own: diskBytes(home) - RESERVE_BYTES, shadow: diskBytes(git.directory) });
  const before = sizes();
  await workspace.upkeep.gc();
  git.collectGarbage();
  const after = sizes();
  const row = (name: string, { own, shadow }: { own: number; shadow: number }): Row => ({
    work: name,
    files,
    belay: mib(own),
    git: mib(shadow),
    ratio: `${(shadow / own).toFixed(2)} ×`,
    budget: "",
    holds: undefined,
  });
  return [
    row(`${work}, before gc`, before),
    { ...row(`${work}, after gc`, after), budget: "≤ git gc", holds: after.own <= after.shadow },
    ...measureSearch(new Belay(home, project.root), git, { files, checkpoints, rounds }),
  ];
}

/** Kept aside for freeing space on a full disk; not part of the history. */
const RESERVE_BYTES = 4 * 1024 * 1024;
