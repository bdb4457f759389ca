/** What every part below the provider works with: the client, the workspace and its live events. */
import { createContext, useContext, useEffect, useMemo, useSyncExternalStore } from "react";
import type { BrowserClient } from "./client.ts";
import type { LiveEvents, LiveState } from "./live-events.ts";

/** One workspace, reached through one client. */
export interface Belay {
  readonly client: BrowserClient;
  readonly workspace: string;
  readonly live: LiveEvents;
}

type Provided = Pick<Belay, "client"> & Partial<Belay>;

/** Where parts find their provider. */
export const BelayContext = createContext<Provided | undefined>(undefined);

/** The nearest provider's client, for calls that name their own workspace. */
export function useClient(): BrowserClient {
  const client = useClientIfAny();
  if (client === undefined) throw new Error("This part needs a <BelayProvider> above it.");
  return client;
}

/** The same where a part can do without; undefined without a provider. */
export function useClientIfAny(): BrowserClient | undefined {
  return useContext(BelayContext)?.client;
}

/** The nearest provider's workspace; undefined where a part stands alone with plain data. */
export function useBelayIfAny(): Belay | undefined {
  const { client, workspace, live } = useContext(BelayContext) ?? {};
  return useMemo(
    () =>
      client === undefined || workspace === undefined || live === undefined
        ? undefined
        : { client, workspace, live },
    [client, workspace, live],
  );
}

/** The nearest provider's workspace, with its client and events. */
export function useBelay(): Belay {
  const belay = useBelayIfAny();
  if (belay === undefined) throw new Error("This part needs a <BelayProvider> with a workspace above it.");
  return belay;
}

/** Whether events of the resident process arrive. */
export function useLiveState(): LiveState {
  const { live } = useBelay();
  const get = () => live.state;
  return useSyncExternalStore(live.onState, get, get);
}

/** Calls back for every event of the workspace. */
export function useEvents(onEvent: Parameters<LiveEvents["onEvent"]>[0]): void {
  const { live } = useBelay();
  useEffect(() => live.onEvent(onEvent), [live, onEvent]);
}
