/** What attribution needs to know of the world: the clock, the agents' processes, the times of files. */
import type { AttributionMoment } from "../history/attribution.ts";
import { readEnds } from "../history/reported-ends.ts";
import { below } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import { parentPath, type BytePath } from "../model/byte-path.ts";
import type { Context } from "./context.ts";

/** This moment. The state of a process is looked up once. */
export function momentOf(
  { system, store, workingCopy, ended }: Context,
  more: Pick<AttributionMoment, "bracketing" | "ended" | "heard" | "event"> = {},
): AttributionMoment {
  const answers = new Map<string, boolean | undefined>();
  const once = (question: string, ask: () => boolean | undefined) => {
    if (!answers.has(question)) answers.set(question, ask());
    return answers.get(question);
  };
  const changedAt = (path: BytePath) => {
    const stat = statNode(below(workingCopy.root, path));
    return stat === undefined ? undefined : Number(stat.ctimeNs / 1_000_000n);
  };
  return {
    ends: [...readEnds(store.db), ...ended],
    ...more,
    now: system.now(),
    isAlive: (client) => once(`${client.pid} of ${client.started}`, () => system.isAlive(client)) === true,
    hasStarted: (client, since) =>
      once(`${client.pid} since ${since}`, () => system.hasStarted(client, since)),
    changedAt,
    goneBy(path) {
      for (let at = parentPath(path); ; at = parentPath(at)) {
        const changed = changedAt(at);
        if (changed !== undefined || at === "") return changed ?? Infinity;
      }
    },
  };
}
