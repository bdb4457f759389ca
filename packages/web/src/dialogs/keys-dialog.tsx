/** All keys of the page. */
import { Dialog } from "@belay/react";
import type { ReactNode } from "react";
import { KEYS } from "../words.ts";

/** The list of keys that `?` opens. */
export function KeysDialog({ onClose }: { onClose(): void }): ReactNode {
  return (
    <Dialog title="Keys" isSmall onClose={onClose}>
      <dl className="b-keys">
        {KEYS.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
      <footer className="b-dialog-foot">
        <span className="b-grow" />
        <button type="button" className="b-btn" data-first onClick={onClose}>
          Close <kbd>Esc</kbd>
        </button>
      </footer>
    </Dialog>
  );
}
