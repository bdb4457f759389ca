/** Several rankings made one: an item counts by its places, not by scores that cannot be compared. */

const SMOOTHING = 60;

/** Reciprocal rank fusion; equal ones keep the order of their ids. */
export function fuseRankings(rankings: readonly (readonly number[])[]): { id: number; score: number }[] {
  const scores = new Map<number, number>();
  for (const ranking of rankings) {
    ranking.forEach((id, place) => scores.set(id, (scores.get(id) ?? 0) + 1 / (SMOOTHING + place + 1)));
  }
  return [...scores].map(([id, score]) => ({ id, score })).sort((a, b) => b.score - a.score || a.id - b.id);
}
