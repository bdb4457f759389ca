/** The preview that any part can open: it lies above all of them, so that "Undo" of a message works after its part is gone. */
import { createContext, useCallback, useContext, useState, type ReactNode } from "react";
import { useToast } from "../parts/toasts.tsx";
import { PlanDialog } from "./plan-dialog.tsx";
import { planResult } from "./plan-result.ts";
import type { PlanBody, PlanRequest } from "./request.ts";

type Open = (request: PlanRequest) => void;

const Context = createContext<Open | undefined>(undefined);

/** For every part of the page that goes back: the preview that is open, what opens one, and what is said after it. */
export function usePlans(
  then: {
    onChanged?(): void;
    /** Shows what was changed; left out where there is no view for it. */
    compare?(from: string, to: string): void;
    /** Opens the view in which conflicts are decided; left out where there is none. */
    decide?(plan: PlanBody): void;
  } = {},
): {
  readonly plan: Open;
  readonly isOpen: boolean;
  readonly element: ReactNode;
} {
  const [request, setRequest] = useState<PlanRequest>();
  const toast = useToast();
  const plan = useCallback((next: PlanRequest) => setRequest(next), []);
  const close = () => setRequest(undefined);
  return {
    plan,
    isOpen: request !== undefined,
    element:
      request === undefined ? null : (
        <PlanDialog
          key={JSON.stringify(request)}
          request={request}
          onClose={close}
          {...(then.decide && {
            onDecide: (body: PlanBody) => {
              close();
              then.decide!(body);
            },
          })}
          onDone={(outcome, made) => {
            close();
            then.onChanged?.();
            toast(planResult(request, { outcome, made, plan, compare: then.compare }));
          }}
        />
      ),
  };
}

/** Opens previews for everything below it. */
export function GoingBack({
  children,
  ...then
}: Pick<NonNullable<Parameters<typeof usePlans>[0]>, "compare" | "decide"> & {
  readonly children: ReactNode;
}): ReactNode {
  const { plan, element } = usePlans(then);
  return (
    <Context.Provider value={plan}>
      {children}
      {element}
    </Context.Provider>
  );
}

/** Opens the preview of going back. */
export function useGoBack(): Open {
  const open = useContext(Context);
  if (open === undefined) throw new Error("This part needs a <BelayProvider> with a workspace above it.");
  return open;
}
