/** Results, until they are closed or the next change comes. They do not time out. */
import {
  createContext,
  useCallback,
  useContext,
  useEffect,
  useMemo,
  useRef,
  useState,
  type ReactNode,
} from "react";
import { useBelayIfAny } from "../data/belay.tsx";
import { giveFocus } from "./focus.ts";
import { visible } from "../words.ts";
import { Icon } from "./icon.tsx";

/** The result of an action; it stays until it is closed or the next change comes. */
export interface Toast {
  readonly text: string;
  readonly isFailure?: boolean;
  readonly action?: { readonly words: string; readonly run: () => void };
  /** The checkpoint that the result made: with the next change after it, its action would act on something else. */
  readonly made?: string | null;
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
  const changes: Changes = useChanges(() =>
    setToast((shown) => (shown !== undefined && changes.isOver(shown) ? undefined : shown)),
  );
  const show = useCallback(
    (next: Toast) => {
      const { action: _action, ...rest } = next;
      // its change may have been followed by another before the answer came
      setToast(changes.isOver(next) ? rest : next);
    },
    [changes],
  );
  const close = () => {
    setToast(undefined);
    giveFocus(null);
  };
  const stack = useMemo(
    () =>
      toast === undefined ? null : (
        <div className="b-toast">
          <Icon name={toast.isFailure ? "warn" : "check"} />
          <span className="b-grow">{visible(toast.text)}</span>
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

/** Changes of files that are remembered, to tell which came after a result. */
const REMEMBERED = 100;

interface Changes {
  readonly isOver: (toast: Toast) => boolean;
}

/** The checkpoints as they come; `onChange` is called for those that changed files. */
function useChanges(onChange: () => void): Changes {
  const belay = useBelayIfAny();
  const seen = useRef<{ readonly id: string; readonly hasChanged: boolean }[]>([]);
  useEffect(
    () =>
      belay?.live.onEvent((event) => {
        if (event.type !== "checkpoint_created" || event.checkpoint === null) return;
        const { id, changes } = event.checkpoint;
        const hasChanged = changes.added + changes.modified + changes.deleted > 0;
        seen.current = [...seen.current.slice(1 - REMEMBERED), { id, hasChanged }];
        if (hasChanged) onChange();
      }),
    [belay],
  );
  return useMemo(
    () => ({
      isOver: ({ made }) => {
        const at = seen.current.findIndex(({ id }) => id === made);
        return at >= 0 && seen.current.slice(at + 1).some(({ hasChanged }) => hasChanged);
      },
    }),
    [],
  );
}

/** Gives the function that shows a result. */
export function useToast(): (toast: Toast) => void {
  return useContext(Context);
}
