/** A dialog of the browser itself: it traps the focus, gives it back, and closes on Esc. */
import { useEffect, useRef, type ReactNode, type RefObject } from "react";
import { giveFocus } from "./focus.ts";
import { Icon } from "./icon.tsx";

/** A modal dialog. `isDangerous`: something is deleted or cannot be undone. */
export function Dialog(props: {
  readonly title: string;
  readonly about?: ReactNode;
  readonly isDangerous?: boolean;
  readonly isSmall?: boolean;
  /** While something runs the dialog cannot be closed. */
  readonly isBusy?: boolean;
  onClose(): void;
  onConfirm?(): void;
  readonly children: ReactNode;
}): ReactNode {
  const element = useRef<HTMLDialogElement>(null);
  const close = useRef(props.onClose);
  close.current = props.isBusy ? () => undefined : props.onClose;
  useModal(element);
  return (
    <dialog
      ref={element}
      className={props.isSmall ? "belay b-dialog b-small-dialog" : "belay b-dialog"}
      role={props.isDangerous ? "alertdialog" : "dialog"}
      tabIndex={-1}
      aria-labelledby="dialog-title"
      aria-describedby={props.about === undefined ? undefined : "dialog-about"}
      onCancel={(event) => {
        event.preventDefault();
        close.current();
      }}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey) || event.repeat) return;
        event.preventDefault();
        props.onConfirm?.();
      }}
    >
      <header className="b-dialog-head">
        <div className="b-row b-between b-top b-gap16">
          <div className="b-col b-gap4">
            <h1 id="dialog-title">{props.title}</h1>
            {props.about === undefined ? null : (
              <p className="b-muted" id="dialog-about">
                {props.about}
              </p>
            )}
          </div>
          <button
            type="button"
            className="b-btn b-icon b-quiet b-s"
            aria-label="Close"
            onClick={() => close.current()}
          >
            <Icon name="x" />
          </button>
        </div>
      </header>
      {props.children}
    </dialog>
  );
}

/** Opens the dialog over everything else, and gives the focus back when it closes. */
function useModal(element: RefObject<HTMLDialogElement | null>): void {
  useEffect(() => {
    const dialog = element.current!;
    const before = document.activeElement as HTMLElement | null;
    dialog.showModal();
    dialog.querySelector<HTMLElement>("[data-first]")?.focus();
    // a pressed button may go with what it unfolded: the dialog's keys have to work on
    const changes = new MutationObserver(() => {
      if (document.activeElement === document.body) dialog.focus();
    });
    changes.observe(dialog, { childList: true, subtree: true });
    return () => {
      changes.disconnect();
      dialog.close();
      giveFocus(before);
    };
  }, []);
}
