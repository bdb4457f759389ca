/** What a host puts around Belay's parts. */
import { useEffect, useMemo, type ReactNode } from "react";
import { BelayContext } from "./data/belay.tsx";
import type { BrowserClient } from "./data/client.ts";
import { LiveEvents } from "./data/live-events.ts";
import { Toasts, type Toast } from "./parts/toasts.tsx";
import { GoingBack } from "./plans/going-back.tsx";
import type { PlanBody } from "./plans/request.ts";

/** What the parts below a provider have in common. */
export interface BelayProviderProps {
  readonly client: BrowserClient;
  /** The id or path of a protected directory; `useCheckpoints` names its own and needs none here. */
  readonly workspace?: string;
  /** Shows results in the host's own way; without it they appear at the bottom of the window. */
  readonly onToast?: (toast: Toast) => void;
  /** Shows two states; without it results have no such button. */
  compare?(from: string, to: string): void;
  /** Opens the host's view in which conflicts are decided; without it they are only named. */
  decide?(plan: PlanBody): void;
  readonly children: ReactNode;
}

/** Gives the parts below it a client and the events of a workspace, and shows what they did. */
export function BelayProvider(props: BelayProviderProps): ReactNode {
  const { client, workspace, onToast, compare, decide, children } = props;
  const live = useMemo(
    () => (workspace === undefined ? undefined : new LiveEvents(client, workspace)),
    [client, workspace],
  );
  useEffect(() => live?.open(), [live]);
  const provided = useMemo(
    () => (workspace === undefined || live === undefined ? { client } : { client, workspace, live }),
    [client, workspace, live],
  );
  return (
    <BelayContext.Provider value={provided}>
      <Toasts {...(onToast && { onToast })}>
        <GoingBack {...(compare && { compare })} {...(decide && { decide })}>
          {children}
        </GoingBack>
      </Toasts>
    </BelayContext.Provider>
  );
}
