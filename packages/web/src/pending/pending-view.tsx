/** What agents changed and is not approved yet, thread by thread. */
import { PendingPanel, useBelay, useHistory, useStatus, useThreads, useVersion } from "@belay/react";
import type { KeyboardEvent, ReactNode } from "react";
import { comparePath, go, timelinePath } from "../address.ts";
import { useDialogs } from "../dialogs/use-dialogs.tsx";
import { Shell } from "../shell/shell.tsx";
import { lettersAct } from "../preferences.ts";
import { PAGE } from "../words.ts";

const NO_FILTER = {};

/** The page's view of work that waits for approval. */
export function PendingView(): ReactNode {
  const { workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  const { history, store } = useHistory(NO_FILTER);
  const dialogs = useDialogs(() => store.refresh());
  const working = history.now?.working ?? [];
  const onKey = (event: KeyboardEvent) => {
    if (event.defaultPrevented || (event.target as HTMLElement).matches("input:not([type=checkbox])")) return;
    if (event.key === "Escape") go(timelinePath(workspace));
    if (!lettersAct() || event.repeat || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "A") pressIn(event, "[data-approve]");
    if (event.key === "X") pressIn(event, "[data-reset]");
  };
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      working={working}
      view="pending"
      title={PAGE.pending}
      top={
        <>
          <span className="b-strong">{PAGE.pending}</span>
          <span className="b-small b-muted b-wide">{PAGE.pendingAbout}</span>
        </>
      }
    >
      <main className="b-page" onKeyDown={onKey} tabIndex={0}>
        <div className="b-wrap">
          {threads.map((thread) => (
            <PendingPanel
              key={thread.id}
              thread={thread}
              isWorking={working.includes(thread.id)}
              version={version}
              onPlan={dialogs.plan}
              onCompare={(from, to) => go(comparePath(workspace, from, to))}
            />
          ))}
          {threads.length === 0 ? <p className="b-empty">Nothing pending</p> : null}
        </div>
      </main>
      {dialogs.element}
    </Shell>
  );
}

/** Presses a button of the card that has the focus, or of the first card where it can be pressed. */
function pressIn({ target, currentTarget }: KeyboardEvent, selector: string): void {
  const card = (target as HTMLElement).closest("section") ?? currentTarget;
  card.querySelector<HTMLElement>(`${selector}[aria-disabled="false"]`)?.click();
}
