/** What attribution needs to know of the world: the clock, the agents' processes, the times of files. */
import type { AttributionMoment } from "../history/attribution.ts";
import { below } from "../fs/absolute-path.ts";
import { statNode } from "../fs/file-stat.ts";
import type { Context } from "./context.ts";

/** This moment. The state of a process is looked up once. */
export function momentOf(
  { system, workingCopy, interrupted }: Context,
  more: Pick<AttributionMoment, "bracketing" | "ended" | "heard" | "event" | "interrupted"> = {},
): AttributionMoment {
  const answers = new Map<string, boolean | undefined>();
  const once = (question: string, ask: () => boolean | undefined) => {
    if (!answers.has(question)) answers.set(question, ask());
    return answers.get(question);
  };
  return {
    interrupted,
    ...more,
    now: system.now(),
    isAlive: (client) => once(`${client.pid} of ${client.started}`, () => system.isAlive(client)) === true,
    hasStarted: (client, since) =>
      once(`${client.pid} since ${since}`, () => system.hasStarted(client, since)),
    changedAt(path) {
      const stat = statNode(below(workingCopy.root, path));
      return stat === undefined ? undefined : Number(stat.ctimeNs / 1_000_000n);
    },
  };
}
