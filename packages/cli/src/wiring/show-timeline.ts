/** The timeline of the call's directory, on the terminal of this process. */
import { ContractError } from "@belay/protocol/errors";
import type { BelayClient } from "@belay/protocol/client";
import type { Call } from "../call/command.ts";
import { OWN_SURROUNDINGS } from "../call/surroundings.ts";
import { findPlace } from "./screen-place.ts";

/** What the user chose. */
export interface TimelineChoices {
  readonly thread: string | undefined;
  readonly ascii: boolean;
  readonly mouse: boolean;
  /** Without colours. */
  readonly plain: boolean;
}

/** Undefined when this directory is not protected. */
export async function timelineIfProtected(call: Call, choices: TimelineChoices): Promise<number | undefined> {
  // both take a while and need nothing of each other
  const [found, { runTimeline }] = await Promise.all([findPlace(call), import("@belay/tui")]);
  if (found === undefined) return undefined;
  const { place, client } = found;
  return runTimeline(place, {
    thread:
      choices.thread === undefined ? undefined : await threadOf(client, choices.thread, place.workspace),
    ascii: choices.ascii,
    colour: !choices.plain && call.options["color"] !== "never",
    mouse: choices.mouse,
    environment: call.environment,
  });
}

/** Shows the timeline; throws when this directory is not protected. */
export async function showTimeline(call: Call, choices: TimelineChoices): Promise<number> {
  if (!call.output.canAsk) return printed(call, choices);
  const exit = await timelineIfProtected(call, choices);
  if (exit !== undefined) return exit;
  // the engine's own error says where to look
  const { findWorkspace } = await import("@belay/engine");
  await using workspace = await findWorkspace(call.directory, { home: call.home });
  throw new ContractError("WORKSPACE_NOT_FOUND", `${workspace.root} cannot be shown.`);
}

/** Not a terminal: the same rows as text. */
function printed({ home, directory, json, dispatch }: Call, { thread }: TimelineChoices): Promise<number> {
  const words = ["--home", home, "-C", directory, "log"];
  return dispatch(
    [...words, ...(json ? ["--json"] : []), ...(thread === undefined ? [] : ["--thread", thread])],
    OWN_SURROUNDINGS,
  );
}

/** A thread by its id, the beginning of its id, or the agent's name for it. */
async function threadOf(client: BelayClient, ref: string, workspace: string) {
  const { threads } = await client.call("GET /api/threads", { query: { workspace } });
  const exact = threads.filter(({ id, externalId }) => id === ref || externalId === ref);
  const found = exact.length > 0 ? exact : threads.filter(({ id }) => id.startsWith(ref));
  const [thread, other] = found;
  if (thread === undefined)
    throw new ContractError("THREAD_NOT_FOUND", `There is no thread ${ref}.`, { facts: { thread: ref } });
  if (other !== undefined)
    throw new ContractError("THREAD_AMBIGUOUS", `${found.length} threads begin with ${ref}.`, {
      facts: { thread: ref },
    });
  return { id: thread.id, title: thread.title ?? `${thread.agent} ${thread.id.slice(0, 8)}` };
}
