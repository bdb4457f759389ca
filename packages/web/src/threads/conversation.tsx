/**
 * The messages of a thread, oldest first. Under a message stands what it changed, and a badge that goes back to before it:
 * only where something changed, quiet at rest, never invisible.
 */
import {
  clock,
  dayAndClock,
  filesOf,
  Icon,
  Lines,
  quantity,
  restoreTo,
  titleOf,
  useBelay,
  useLoaded,
  visible,
  WORDS,
  type HistoryRow,
  type PlanRequest,
} from "@belay/react";
import type { CallOutput } from "@belay/protocol";
import type { ReactNode } from "react";

type Message = CallOutput<"GET /api/threads/:id/messages">["messages"][number];

const MOST = 500;

/** The conversation of one thread. */
export function Conversation(props: {
  readonly thread: string;
  readonly version: number;
  readonly rows: readonly HistoryRow[];
  onPlan(request: PlanRequest): void;
}): ReactNode {
  const { client } = useBelay();
  const { thread, version, rows, onPlan } = props;
  const { value, error } = useLoaded(`messages ${thread} ${version} !`, () =>
    client.call("GET /api/threads/:id/messages", { params: { id: thread }, query: { limit: String(MOST) } }),
  );
  if (error !== undefined) return <p className="b-empty">{error.message}</p>;
  const messages = (value?.messages ?? []).toSorted((a, b) => a.index - b.index);
  const turns = new Map(rows.filter(({ kind }) => kind === "turn").map((row) => [row.id, row]));
  return (
    <ol className="b-conversation" aria-label="Conversation">
      {messages.map((message) => (
        <li key={message.id}>
          {message.role === "user" ? (
            <Prompt
              message={message}
              row={message.checkpoint === null ? undefined : turns.get(message.checkpoint)}
              onPlan={onPlan}
            />
          ) : (
            <article className="b-msg b-bot" aria-label={`Answer, ${clock(message.createdAt)}`}>
              <p className="b-text">{visible(message.content)}</p>
            </article>
          )}
        </li>
      ))}
    </ol>
  );
}

function Prompt(props: {
  readonly message: Message;
  readonly row: HistoryRow | undefined;
  onPlan(request: PlanRequest): void;
}): ReactNode {
  const { message, row, onPlan } = props;
  const isUndone = row?.state === "undone" || message.rolledBack;
  const files = row === undefined ? 0 : filesOf(row);
  return (
    <article
      className={isUndone ? "b-msg b-user b-gone" : "b-msg b-user"}
      aria-label={`Prompt, ${dayAndClock(message.createdAt)}`}
    >
      <p className="b-text">{visible(message.content)}</p>
      <footer className="b-row b-small b-muted">
        <span>{clock(message.createdAt)}</span>
        {row === undefined ? null : <Lines plus={row.plus} minus={row.minus} />}
        {files > 0 ? <span>{quantity(files, "file")}</span> : null}
        {isUndone ? <span className="b-chip b-edge">undone</span> : null}
        <span className="b-grow" />
        {row === undefined || files === 0 ? null : row.state === "undone" ? (
          <button
            type="button"
            className="b-btn b-s b-quiet"
            aria-label={`Redo ${titleOf(row)}`}
            onClick={() =>
              onPlan({ kind: "redo", name: titleOf(row), ...(row.thread && { thread: row.thread }) })
            }
          >
            <Icon name="redo" small />
            Redo…
          </button>
        ) : (
          <button
            type="button"
            className="b-btn b-s b-quiet"
            aria-label={`Restore… to before ${titleOf(row)}`}
            title={WORDS.undoTitle}
            onClick={() => restoreTo(row, onPlan)}
          >
            <Icon name="back" small />
            Restore…
          </button>
        )}
      </footer>
    </article>
  );
}
