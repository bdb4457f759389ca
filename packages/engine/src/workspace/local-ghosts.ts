/** The ghosts of a workspace in this process. */
import type { Context } from "../capture/context.ts";
import { withCapture } from "../capture/with-capture.ts";
import { dropGhosts, ghostPlace, listGhosts, makeGhost, type MissingGhost } from "../ghost/ghosts.ts";
import { importGhost } from "../ghost/import-ghost.ts";
import { resolveState } from "../history/references.ts";
import type { Checkpoint } from "../model/checkpoint.ts";
import type { Ghost, GhostOptions } from "../model/ghost.ts";
import type { CheckpointRef } from "../model/ids.ts";
import type { Ghosts } from "./interface/ghosts.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Ghosts`, in terms of the layers below. */
export class LocalGhosts implements Ghosts {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async ghost(ref?: CheckpointRef, options: GhostOptions = {}): Promise<Ghost | MissingGhost> {
    return this.#runner.run(() => {
      const place = ghostPlace(this.#context);
      if ("missing" in place) return place;
      const isPresent = ref === undefined;
      const checkpoint = isPresent ? this.#capture(options) : resolveState(this.#context, ref);
      return this.#make(checkpoint, { ...options, isPresent });
    });
  }

  async ghosts(): Promise<Ghost[] | MissingGhost> {
    return listGhosts(this.#context);
  }

  async importGhost(id: string): Promise<Checkpoint | MissingGhost> {
    return this.#runner.run(() => importGhost(this.#context, id));
  }

  async dropGhost(id: string): Promise<number | MissingGhost> {
    return dropGhosts(this.#context, id === "all" ? "all" : [id]);
  }

  #capture({ description }: GhostOptions): Checkpoint {
    return withCapture(this.#context, {}, (capture) =>
      capture.record({ request: { kind: "safety" }, description: description ?? "Before a ghost" }),
    ).checkpoint;
  }

  #make(checkpoint: Checkpoint, options: GhostOptions & { isPresent: boolean }): Ghost | MissingGhost {
    return makeGhost(this.#context, { ...options, checkpoint, keep: this.#runner.ghosts.keep });
  }

  get #context(): Context {
    return this.#runner.context;
  }
}

/** Makes the ghost of a message's checkpoint where the settings want one. A failure never fails the turn. */
export function ghostOfMessage(runner: Runner, checkpoint: Checkpoint): void {
  const { mode, keep } = runner.ghosts;
  if (mode === "off") return;
  try {
    const made = makeGhost(runner.context, { checkpoint, keep, isPresent: true });
    if ("missing" in made && mode === "on") runner.tell(missingGhost(made.missing));
  } catch (error) {
    runner.tell(missingGhost(error instanceof Error ? error.message : String(error)));
  }
}

/** What the status says where the settings want ghosts and none can be made. */
export function ghostWarnings({ context, ghosts }: Runner): string[] {
  if (ghosts.mode !== "on") return [];
  const place = ghostPlace(context);
  return "missing" in place ? [missingGhost(place.missing)] : [];
}

function missingGhost(reason: string): string {
  return `ghost.mode is on, and no ghost can be made: ${reason}. Checkpoints are complete without it.`;
}
