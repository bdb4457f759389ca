/**
 * Hook events in a resident process. A hook that waited in vain passes its event to `belay hook`, which
 * delivers it again under the same name: it is carried out once, and both get the same answer.
 */
import { beganAt, DEADLINES } from "../events/event-journey.ts";
import { OverduePlace } from "../state/overdue-events.ts";
import type { AgentHost } from "./agent-host.ts";
import { runHook } from "./run-hook.ts";

/** One event as a hook delivers it. */
export interface DeliveredEvent {
  readonly agent: string;
  readonly input: Uint8Array;
  readonly cwd: string;
  readonly environment: NodeJS.ProcessEnv;
  /** The event's name, and when its hook stops waiting; where only the name is known, it tells the time too. */
  readonly wait?: { readonly id: string; readonly deadline?: number };
}

/** Carries out events of hooks, each once. */
export class HookService<Thread> {
  readonly #home: string;
  readonly #host: AgentHost<Thread>;
  readonly #answers = new Map<string, Promise<string>>();

  constructor(home: string, host: AgentHost<Thread>) {
    this.#home = home;
    this.#host = host;
  }

  /** What the hook must print. */
  async answer({ agent, input, cwd, environment, wait }: DeliveredEvent): Promise<string> {
    const event = { agent, cwd, environment, input: [input], home: this.#home, host: this.#host };
    const deadline = wait?.deadline ?? deadlineOf(wait?.id);
    if (wait === undefined || deadline === undefined) return runHook(event);
    const { id } = wait;
    const known = this.#answers.get(id);
    if (known === undefined) return this.#remember(id, runHook({ ...event, wait: { id, deadline } }));
    const answer = await known;
    // the hook that delivered it again may have left meanwhile, with a note that it is still to be done
    new OverduePlace(this.#home, { agent, cwd }).answered(id);
    return answer;
  }

  #remember(id: string, answer: Promise<string>): Promise<string> {
    this.#answers.set(id, answer);
    setTimeout(() => this.#answers.delete(id), DEADLINES.REPEATED_MS).unref();
    return answer;
  }
}

function deadlineOf(id: string | undefined): number | undefined {
  const began = id === undefined ? undefined : beganAt(id);
  return began === undefined ? undefined : began + DEADLINES.WORK_MS;
}
