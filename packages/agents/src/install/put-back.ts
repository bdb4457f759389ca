/** After a restore: files that hold our hooks may have come back without them. Exactly our entries are re-added. */
import { isAbsolute, relative, sep } from "node:path";
import { loadAgent } from "../adapters/find-adapter.ts";
import { install, planInstall, type InstalledReport } from "./install.ts";
import { readRecord } from "./install-record.ts";

/** A restore, and the paths it changed. */
export interface PutBackRequest {
  readonly belayHome: string;
  readonly user: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly root: string;
  /** Relative to the root, "/"-separated: what the restore wrote or deleted. */
  readonly changedPaths: readonly string[];
  readonly now: number;
}

/** The files that were changed for it; empty in the usual case. */
export async function putBackHooks(request: PutBackRequest): Promise<InstalledReport[]> {
  const { belayHome, root, changedPaths, user, environment, now } = request;
  const changed = new Set(changedPaths);
  const concerned = readRecord(belayHome).filter(({ path }) => {
    const inside = relative(root, path).split(sep).join("/");
    return !isAbsolute(inside) && !inside.startsWith("../") && changed.has(inside);
  });
  const reports: InstalledReport[] = [];
  for (const { agent, scope, roots, path } of concerned) {
    const place = { scope, user, root: roots[0] ?? null, belayHome, environment };
    const plan = planInstall(await loadAgent(agent), place);
    const only = { ...plan, files: plan.files.filter((file) => file.path === path) };
    reports.push(...install(only, now).files.filter(({ outcome }) => outcome !== "unchanged"));
  }
  return reports;
}
