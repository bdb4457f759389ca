/** The row above all others: the auto-fix loop stopped, and waits for an answer. */
import { Icon, quantity, type Fix } from "@belay/react";
import { useState, type ReactNode } from "react";
import { EscalationDialog } from "./escalation-dialog.tsx";
import { useNeeds } from "../shell/needs.ts";
import { reasonOf } from "./fix-words.ts";

/** One row for each loop that waits; nothing where none does. */
export function NeedsYou(): ReactNode {
  const { fixes } = useNeeds();
  // the one that was opened stays, also while its answer is carried out
  const [open, setOpen] = useState<Fix>();
  return (
    <>
      {fixes.map((each) => (
        <div key={each.id} className="b-needs" role="group" aria-label="Auto-fix needs you">
          <span className="b-chip b-warn">
            <Icon name="warn" small />
            needs you
          </span>
          <span className="b-cut b-grow">
            Auto-fix {reasonOf(each)} · {quantity(each.issues.length, "issue")}
          </span>
          <button type="button" className="b-btn b-s" onClick={() => setOpen(each)}>
            Decide…
          </button>
        </div>
      ))}
      {open === undefined ? null : <EscalationDialog fix={open} onClose={() => setOpen(undefined)} />}
    </>
  );
}
