/** What a button that changes something has in common with all others: it says why where it cannot be pressed. */
import { useCallback, useSyncExternalStore, type MouseEvent } from "react";
import { useBelayIfAny } from "../data/belay.tsx";
import { WORDS } from "../words.ts";

/** The properties of such a button. */
export interface Act {
  readonly "aria-disabled"?: true;
  readonly title?: string | undefined;
  onClick(event: MouseEvent): void;
}

/** [R2162] Makes the properties of a button: while the connection is gone it does nothing, and its title says so. */
export function useAct(): (press: (event: MouseEvent) => void, title?: string) => Act {
  const live = useBelayIfAny()?.live;
  const isWaiting = useSyncExternalStore(
    live?.onState ?? neverChanges,
    () => live?.state.kind === "waiting",
    () => false,
  );
  return useCallback(
    (press, title) =>
      isWaiting
        ? {
            "aria-disabled": true,
            title: WORDS.offline,
            // a press of a button in a row is not one of the row either
            onClick: (event) => event.stopPropagation(),
          }
        : { title, onClick: press },
    [isWaiting],
  );
}

function neverChanges(): () => void {
  return () => undefined;
}
