/** Forks in the contract's shape. */
import type { Fork, RemovedFork } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { branchJson } from "./branch-json.ts";

/** A fork as the contract shows it. */
export function forkJson(fork: Fork): Json<typeof shapes.fork> {
  return {
    id: fork.id,
    name: fork.name,
    path: fork.path,
    branch: fork.branch,
    base: fork.base,
    head: fork.head,
    state: fork.state,
    method: fork.method,
    files: fork.files,
    bytes: fork.bytes,
    bytesOnDisk: fork.bytesOnDisk,
    dependencies: [...fork.dependencies],
    git: fork.git,
    port: fork.port,
    run: fork.run,
    durationMs: fork.durationMs,
    createdAt: new Date(fork.createdAt).toISOString(),
    removedAt: fork.removedAt === null ? null : new Date(fork.removedAt).toISOString(),
  };
}

/** A fork that was removed, and until when it can be brought back. */
export function removedForkJson({ fork, branch, checkpoint, until, warnings }: RemovedFork) {
  return {
    fork: forkJson(fork),
    branch: branchJson(branch),
    checkpoint,
    until: until === null ? null : new Date(until).toISOString(),
    warnings: [...warnings],
  };
}
