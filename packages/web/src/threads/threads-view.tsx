/** Conversations with agents, each message with the way back to before it. */
import {
  agentColour,
  AgentBadge,
  agentName,
  ago,
  quantity,
  useBelay,
  useHistory,
  visible,
  useStatus,
  useThreads,
  useVersion,
  type Thread,
} from "@belay/react";
import { useEffect, useState, type ReactNode } from "react";
import { go, threadPath, timelinePath } from "../address.ts";
import { useDialogs } from "../dialogs/use-dialogs.tsx";
import { Shell } from "../shell/shell.tsx";
import { PAGE } from "../words.ts";
import { Conversation } from "./conversation.tsx";

/** All threads, or the conversation of one. */
export function ThreadsView({ thread }: { readonly thread: string | undefined }): ReactNode {
  const { workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  const { history, store, setPrompts } = useConversationRows(thread);
  const dialogs = useDialogs(() => store.refresh());
  const its = threads.find(({ id }) => id === thread);
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      working={history.now?.working ?? []}
      thread={thread}
      view="threads"
      title={its === undefined ? PAGE.threads : visible(its.title ?? its.externalId)}
      top={
        <>
          <Head thread={its} />
          <span className="b-grow" />
          {thread === undefined ? null : (
            <button type="button" className="b-btn" onClick={() => go(timelinePath(workspace, { thread }))}>
              Only this thread in the timeline
            </button>
          )}
        </>
      }
    >
      <main className="b-page" tabIndex={0}>
        <div className={thread === undefined ? "b-wrap" : "b-wrap b-narrow"}>
          {thread !== undefined ? (
            <Conversation
              thread={thread}
              version={version}
              rows={history.rows}
              agent={its?.agent ?? null}
              onPrompts={setPrompts}
              onPlan={dialogs.plan}
            />
          ) : (
            threads.map((each) => (
              <button
                key={each.id}
                type="button"
                className={`b-card b-in b-row b-plain-card ${agentColour(each.agent)}`}
                onClick={() => go(threadPath(workspace, each.id))}
              >
                <AgentBadge agent={each.agent} />
                <span className="b-col b-grow">
                  <span className="b-strong b-cut">{visible(each.title ?? each.externalId)}</span>
                  <span className="b-small b-muted">
                    {agentName(each.agent)} · {quantity(each.messages, "message")} · {ago(each.updatedAt)}
                  </span>
                </span>
              </button>
            ))
          )}
          {threads.length === 0 ? <p className="b-empty">{PAGE.noThreads}</p> : null}
        </div>
      </main>
      {dialogs.element}
    </Shell>
  );
}

/** The rows of a thread, one for each prompt shown: each offers the way back. */
function useConversationRows(thread: string | undefined) {
  const { history, store } = useHistory(thread === undefined ? NO_FILTER : { thread });
  const [prompts, setPrompts] = useState(0);
  useEffect(() => {
    const first = history.rows.length;
    if (first > 0 && first < prompts && history.below > 0) void store.need({ first, last: prompts });
  }, [history.rows.length, history.below, prompts, store]);
  return { history, store, setPrompts };
}

/** Whose conversation it is; all of them where none is chosen. */
function Head({ thread }: { readonly thread: Thread | undefined }): ReactNode {
  if (thread === undefined) return <span className="b-strong b-cut">{PAGE.threads}</span>;
  return (
    <span className={`b-row b-cut ${agentColour(thread.agent)}`}>
      <AgentBadge agent={thread.agent} />
      <span className="b-strong b-cut">{visible(thread.title ?? thread.externalId)}</span>
      <span className="b-small b-muted b-wide b-nowrap">
        {agentName(thread.agent)} · {quantity(thread.messages, "message")}
      </span>
    </span>
  );
}

const NO_FILTER = {};
