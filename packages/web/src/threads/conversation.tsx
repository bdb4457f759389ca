/**
 * The messages of a thread, oldest first. Under a message stands what it changed, and a badge that goes back to before it:
 * only where something changed, quiet at rest, never invisible.
 */
import {
  agentColour,
  AgentBadge,
  agentName,
  CheckpointBadge,
  clock,
  dayAndClock,
  filesOf,
  Icon,
  Lines,
  quantity,
  restoreTo,
  titleOf,
  useAct,
  useBelay,
  useLoaded,
  visible,
  WORDS,
  type HistoryRow,
  type PlanRequest,
} from "@belay/react";
import type { CallOutput } from "@belay/protocol";
import { useEffect, useState, type ReactNode } from "react";
import { AnswerText } from "./answer-text.tsx";

type Messages = CallOutput<"GET /api/threads/:id/messages">;
type Message = Messages["messages"][number];

/** How many messages are shown at first, and how many more each time. */
const PAGE = 500;

/** The conversation of one thread. */
export function Conversation(props: {
  readonly thread: string;
  readonly version: number;
  readonly rows: readonly HistoryRow[];
  /** Only the messages of this turn. */
  readonly only?: HistoryRow;
  readonly agent: string | null;
  /** How many prompts are shown. */
  onPrompts?(count: number): void;
  onPlan(request: PlanRequest): void;
}): ReactNode {
  const { thread, version, rows, only, agent, onPrompts, onPlan } = props;
  const [pages, setPages] = useState(1);
  const { value, error } = useMessages(thread, { pages, version });
  const prompts = value?.messages.filter(({ role }) => role === "user").length ?? 0;
  useEffect(() => onPrompts?.(prompts), [prompts]);
  if (error !== undefined) return <p className="b-empty">{error.message}</p>;
  if (value === undefined) return null;
  const all = value.messages.toSorted((a, b) => a.index - b.index);
  const turns = new Map(rows.filter(({ kind }) => kind === "turn").map((row) => [row.id, row]));
  const messages = only === undefined ? all : messagesOf(all, only);
  if (messages.length === 0) return <p className="b-empty">No message is known.</p>;
  return (
    <>
      {only === undefined && value.hasEarlier ? (
        <button type="button" className="b-btn b-earlier" onClick={() => setPages(pages + 1)}>
          Earlier messages
        </button>
      ) : null}
      <ol className="b-conversation" aria-label="Conversation">
        {messages.map((message, index) => (
          <li key={message.id}>
            {message.role === "user" ? (
              <Prompt message={message} agent={agent} row={turnOf(message, turns)} onPlan={onPlan} />
            ) : (
              <Answer message={message} agent={agent} row={turnOf(promptBefore(messages, index), turns)} />
            )}
          </li>
        ))}
      </ol>
    </>
  );
}

/** The newest messages of a thread, in pages. */
function useMessages(
  thread: string,
  { pages, version }: { readonly pages: number; readonly version: number },
) {
  const { client } = useBelay();
  return useLoaded(`messages ${thread} ${version} ${pages} !`, async () => {
    const messages: Message[] = [];
    let before: number | null = null;
    for (let page = 0; page < pages; page += 1) {
      const query = { limit: String(PAGE), ...(before !== null && { before: String(before) }) };
      const answer: Messages = await client.call("GET /api/threads/:id/messages", {
        params: { id: thread },
        query,
      });
      messages.push(...answer.messages);
      before = answer.nextCursor;
      if (before === null) break;
    }
    return { messages, hasEarlier: before !== null };
  });
}

/** The prompt of a turn, and what was said until the next one. */
function messagesOf(messages: readonly Message[], { id }: HistoryRow): readonly Message[] {
  const from = messages.findIndex(({ checkpoint }) => checkpoint === id);
  if (from < 0) return [];
  const next = messages.findIndex(({ role }, at) => at > from && role === "user");
  return messages.slice(from, next < 0 ? undefined : next);
}

function promptBefore(messages: readonly Message[], index: number): Message | undefined {
  return messages.slice(0, index).findLast(({ role }) => role === "user");
}

function turnOf(
  message: Message | undefined,
  turns: ReadonlyMap<string, HistoryRow>,
): HistoryRow | undefined {
  return !message?.checkpoint ? undefined : turns.get(message.checkpoint);
}

function Answer(props: {
  readonly message: Message;
  readonly agent: string | null;
  readonly row: HistoryRow | undefined;
}): ReactNode {
  const { message, agent, row } = props;
  const isUndone = row?.state === "undone" || message.rolledBack;
  const facts = [
    clock(message.createdAt),
    row !== undefined && row.steps > 0 ? quantity(row.steps, "step") : "",
    row !== undefined && filesOf(row) === 0 && row.status !== "working" ? WORDS.changedNothing : "",
  ];
  return (
    <article
      className={isUndone ? `b-msg b-bot b-gone ${agentColour(agent)}` : `b-msg b-bot ${agentColour(agent)}`}
      aria-label={`Answer, ${clock(message.createdAt)}`}
    >
      <header className="b-row b-small b-muted">
        {agent === null ? null : <AgentBadge agent={agent} />}
        <span className="b-who">{agentName(agent)}</span>
        <span>{facts.filter((fact) => fact !== "").join(" · ")}</span>
      </header>
      <AnswerText text={message.content} />
    </article>
  );
}

function Prompt(props: {
  readonly message: Message;
  readonly agent: string | null;
  readonly row: HistoryRow | undefined;
  onPlan(request: PlanRequest): void;
}): ReactNode {
  const { message, agent, row, onPlan } = props;
  const act = useAct();
  const isUndone = row?.state === "undone" || message.rolledBack;
  const files = row === undefined ? 0 : filesOf(row);
  return (
    <article
      className={isUndone ? "b-msg b-user b-gone" : "b-msg b-user"}
      aria-label={`Prompt, ${dayAndClock(message.createdAt)}`}
    >
      <header className="b-row b-small b-muted">
        <Icon name="user" small />
        <span className="b-strong">You</span>
        <span>{clock(message.createdAt)}</span>
        {isUndone ? (
          <span className="b-chip b-edge">
            <Icon name="undo" small />
            {!row?.undoneAt ? "undone" : `undone ${clock(row.undoneAt)}`}
          </span>
        ) : null}
      </header>
      <p className="b-text">{visible(message.content)}</p>
      {isUndone ? (
        <p className="b-small b-muted">
          {row?.state === "undone" ? undoneWords(row) : "The conversation went back to before this."}{" "}
          {agent === null ? "The agent" : agentName(agent)} is told so at its next prompt.
        </p>
      ) : null}
      <footer className="b-row b-small b-muted">
        {row === undefined ? null : <Lines plus={row.plus} minus={row.minus} />}
        {files > 0 ? (
          <span>
            {row?.status === "working"
              ? `${quantity(files, "file")} so far`
              : `${quantity(files, "file")} changed after this`}
          </span>
        ) : null}
        <span className="b-grow" />
        {row === undefined || files === 0 ? null : row.state === "undone" ? (
          <button
            type="button"
            className="b-btn b-s b-quiet"
            aria-label={`Redo ${titleOf(row)}`}
            {...act(() =>
              onPlan({ kind: "redo", name: titleOf(row), ...(row.thread && { thread: row.thread }) }),
            )}
          >
            <Icon name="redo" small />
            Redo…
          </button>
        ) : (
          <CheckpointBadge
            messageId={message.id}
            name={titleOf(row)}
            onRestore={() => restoreTo(row, onPlan)}
          />
        )}
      </footer>
    </article>
  );
}

/** "You undid this turn today at 10:15."; who undid it outside of the page is not known. */
function undoneWords({ undoneBy, undoneAt }: HistoryRow): string {
  const when = undoneAt === null ? "" : ` ${dayAndClock(undoneAt)}`;
  return undoneBy === "page" ? `You undid this turn${when}.` : `This turn was undone${when}.`;
}
