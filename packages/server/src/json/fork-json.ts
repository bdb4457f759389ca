/** Forks in the contract's shape. */
import type { Fork, RemovedFork } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";
import { branchJson } from "./branch-json.ts";

/** One fork. */
export function forkJson({ createdAt, removedAt, dependencies, ...fork }: Fork): Json<typeof shapes.fork> {
  return {
    ...fork,
    dependencies: [...dependencies],
    createdAt: new Date(createdAt).toISOString(),
    removedAt: removedAt === null ? null : new Date(removedAt).toISOString(),
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
