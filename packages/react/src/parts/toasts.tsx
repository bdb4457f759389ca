/** Results, until they are closed or the next change comes. They do not time out. */
import { createContext, useCallback, useContext, useMemo, useState, type ReactNode } from "react";
import { giveFocus } from "./focus.ts";
import { Icon } from "./icon.tsx";

/** One result. */
export interface Toast {
  readonly text: string;
  readonly isFailure?: boolean;
  readonly action?: { readonly words: string; readonly run: () => void };
  /** A second thing to do; the result stays. */
  readonly more?: { readonly words: string; readonly run: () => void };
}

const Context = createContext<(toast: Toast) => void>(() => undefined);

/** Shows toasts of everything below it; `onToast`: the host shows them itself. */
export function Toasts({
  children,
  onToast,
}: {
  readonly children: ReactNode;
  readonly onToast?: (toast: Toast) => void;
}): ReactNode {
  const [toast, setToast] = useState<Toast>();
  const show = useCallback((next: Toast) => setToast(next), []);
  const close = () => {
    setToast(undefined);
    giveFocus(null);
  };
  const stack = useMemo(
    () =>
      toast === undefined ? null : (
        <div className="b-toast">
          <Icon name={toast.isFailure ? "warn" : "check"} />
          <span className="b-grow">{toast.text}</span>
          {toast.more === undefined ? null : (
            <button type="button" className="b-btn b-s" onClick={toast.more.run}>
              {toast.more.words}
            </button>
          )}
          {toast.action === undefined ? null : (
            <button
              type="button"
              className="b-btn b-s"
              onClick={() => {
                close();
                toast.action!.run();
              }}
            >
              {toast.action.words}
            </button>
          )}
          <button type="button" className="b-btn b-s b-icon" aria-label="Close this message" onClick={close}>
            <Icon name="x" />
          </button>
        </div>
      ),
    [toast],
  );
  return (
    <Context.Provider value={onToast ?? show}>
      {children}
      <div className="belay b-stack" role="status" aria-live="assertive">
        {stack}
      </div>
    </Context.Provider>
  );
}

/** Shows a result. */
export function useToast(): (toast: Toast) => void {
  return useContext(Context);
}
