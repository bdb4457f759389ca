/** Branches and merges, made over HTTP as another program would. */
import type { ServedProject } from "../../../server/test/support/served-project.ts";

/** Goes to a branch. */
async function switchTo(project: ServedProject, name: string): Promise<void> {
  // an address has no encoded slash
  const at = `/api/branches/${name.replaceAll("/", "~")}/switch`;
  const { plan } = await project.ok("GET", `${at}/preview`);
  await project.ok("POST", at, { planId: plan.id });
}

/** A branch with these files changed on it; afterwards the working copy is on `main` again. */
export async function branchWith(
  project: ServedProject,
  name: string,
  files: Readonly<Record<string, string | Buffer | null>>,
): Promise<void> {
  await project.ok("POST", "/api/branches", { name });
  await switchTo(project, name);
  for (const [path, text] of Object.entries(files))
    if (text === null) project.remove(path);
    else project.write(path, text);
  await project.ok("POST", "/api/checkpoints", { name: `On ${name}` });
  await switchTo(project, "main");
}

/** Merges; what conflicts is held back. Gives the merge's id. */
export async function merge(project: ServedProject, ...sources: string[]): Promise<string> {
  const planned = await project.ok("POST", "/api/merges", { sources });
  await project.ok("POST", `/api/merges/${planned.merge.id}/apply`, { planId: planned.plan.id });
  return planned.merge.id;
}
