/** Belay's own ghosts in a project's repository: what is left of a history whose store is lost, or is on another machine. */
import { hasGhosts, listGhosts, readGhosts } from "./ghost-commits.ts";
import type { Importer } from "./importer.ts";

const ORIGIN = "ghost";
const REFS = "refs/belay/ghost/";

/** Whether a repository has the ghost of this id, or of a commit that begins so. */
export function isGhost(directory: string, name: string): boolean {
  return listGhosts(directory, REFS).some(
    ({ id, commit }) => id === name || (name.length >= SHORTEST_COMMIT && commit.startsWith(name)),
  );
}

/** Shorter beginnings of commits are not looked for. */
const SHORTEST_COMMIT = 7;

/** Imports ghosts whose checkpoints the store does not have. */
export const ghost: Importer = {
  kind: ORIGIN,
  looksLike: ({ directory }) => hasGhosts(directory, REFS),
  read(data, { here }) {
    const ghosts = readGhosts(data.directory, data, REFS).filter(({ alias }) => !here.has(alias));
    if (ghosts.length === 0) return [];
    const times = ghosts.map(({ createdAt }) => createdAt);
    const thread = {
      origin: ORIGIN,
      agent: ORIGIN,
      externalId: "project",
      title: null,
      createdAt: Math.min(...times),
      updatedAt: Math.max(...times),
      checkpoints: ghosts,
      messages: [],
      sessions: [],
    };
    const names = ghosts.map(({ commit, alias }) => ({ origin: ORIGIN, name: commit, of: alias }));
    return [{ directory: data.directory, threads: [thread], names }];
  },
};
