/** Verifies a remote for one workspace: which of its checkpoints a loss affects, and what this store can upload again. */
import type { ObjectHash, RemoteEntry, Workspace } from "@belay/engine";
import type { Space } from "../space/space.ts";
import { pushObjects } from "./push.ts";
import type { PushTarget } from "./push-target.ts";
import { verifySpace, type SpaceReport } from "./verify-space.ts";

/** How thorough to verify a remote. */
export interface VerifyOptions {
  /** Which share of the parcels is read in full, between 0 and 1. */
  readonly share: number;
  /** Upload again, from this store, what its line lacks. */
  readonly repair: boolean;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

/** What verifying a remote found. */
export interface VerifiedRemote extends Omit<SpaceReport, "problems"> {
  readonly ok: boolean;
  readonly problems: readonly {
    readonly kind: SpaceReport["problems"][number]["kind"];
    readonly key: string;
    /** Checkpoints of this store that it affects. */
    readonly checkpoints: readonly string[];
    readonly repaired: boolean;
  }[];
}

/** Verifies the space, and uploads again what the line of this store lacks where that is asked for. */
export async function verifyRemote(
  target: PushTarget,
  workspace: Workspace,
  how: { readonly entry: RemoteEntry; readonly options: VerifyOptions; readonly fresh: () => Promise<Space> },
): Promise<VerifiedRemote> {
  const { entry, options, fresh } = how;
  const { share, progress, repair } = options;
  const space = await fresh();
  const random = () => target.around.random(4).readUInt32BE() / 2 ** 32;
  const report = await verifySpace(space, target.mirror, { share, random, progress });
  const problems = report.problems.map((problem) => ({
    ...problem,
    checkpoints: problem.line === entry.line ? affected(workspace, problem.objects) : [],
  }));
  const mendable = problems.filter(({ line, objects }) => line === entry.line && objects.length > 0);
  if (repair && mendable.length > 0)
    await pushObjects({ ...target, space }, entry.name, [
      ...new Set(mendable.flatMap(({ objects }) => objects)),
    ] as ObjectHash[]);
  const isRepaired = new Set<unknown>(repair ? mendable : []);
  const told = problems.map((problem) => ({
    kind: problem.kind,
    key: problem.key,
    checkpoints: problem.checkpoints,
    repaired: isRepaired.has(problem),
  }));
  return { ...report, problems: told, ok: told.every(({ repaired }) => repaired) };
}

/** The checkpoints of this store that need one of the objects. */
function affected(workspace: Workspace, objects: readonly string[]): string[] {
  if (objects.length === 0) return [];
  const lost = new Set(objects);
  return workspace.exchange.checkpoints().filter((id) => {
    for (const { hash } of workspace.exchange.needed(id, () => false)) if (lost.has(hash)) return true;
    return false;
  });
}
