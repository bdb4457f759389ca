/** What every part below the provider works with: the client, the workspace and its live events. */
import type { BelayClient } from "@belay/protocol/client";
import {
  createContext,
  useContext,
  useEffect,
  useMemo,
  useState,
  useSyncExternalStore,
  type ReactNode,
} from "react";
import { createClient, type Connection } from "./client.ts";
import { LiveEvents, type LiveState } from "./live-events.ts";

/** One workspace, reached through one connection. */
export interface Belay {
  readonly client: BelayClient;
  readonly connection: Connection;
  readonly workspace: string;
  readonly live: LiveEvents;
}

const Context = createContext<Belay | undefined>(undefined);

/** Gives the parts below it a client and the events of a workspace. */
export function BelayProvider(props: {
  readonly connection: Connection;
  readonly workspace: string;
  readonly children: ReactNode;
}): ReactNode {
  const { connection, workspace, children } = props;
  const [live, setLive] = useState<LiveEvents>();
  useEffect(() => {
    const events = new LiveEvents(connection, workspace);
    setLive(events);
    return () => events.close();
  }, [connection, workspace]);
  const client = useMemo(() => createClient(connection), [connection]);
  const belay = useMemo(
    () => (live === undefined ? undefined : { client, connection, workspace, live }),
    [client, connection, workspace, live],
  );
  if (belay === undefined) return null;
  return <Context value={belay}>{children}</Context>;
}

/** The nearest provider's. */
export function useBelay(): Belay {
  const belay = useContext(Context);
  if (belay === undefined) throw new Error("This part needs a <BelayProvider> above it.");
  return belay;
}

/** Whether events arrive. */
export function useLiveState(): LiveState {
  const { live } = useBelay();
  return useSyncExternalStore(live.onState, () => live.state);
}
