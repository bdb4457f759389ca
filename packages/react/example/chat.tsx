/** A small chat that uses Belay's hook, badge and dialog: the flow of the reference document. */
import {
  CheckpointBadge,
  RestoreDialog,
  useCheckpoints,
  useStreamingRefresh,
  type Checkpoint,
  type Checkpoints,
} from "@belay/react";
import { useRef, useState, type ReactNode } from "react";
import { useChat, type Message } from "./use-chat.ts";

/** Which app the chat is about; null: none, and nothing is captured. */
export interface ChatProps {
  readonly app: string | null;
  /** Something was restored: the app shows itself again. */
  onRestored(): void;
}

/** The chat. */
export function Chat({ app, onRestored }: ChatProps): ReactNode {
  const { messages, status, show, send, takeBack } = useChat();
  const [conversation, setConversation] = useState("");
  const words = useRef(new Map<string, string>());
  const { checkpoints, refresh, createCheckpoint, restore, cleanup, getCheckpoint, enabled, error } =
    useCheckpoints(app, conversation, { promptOf: (id) => words.current.get(id), onRestored });
  useStreamingRefresh(status, refresh);
  const [asked, setAsked] = useState<Checkpoint>();
  const [isOwn, setOwn] = useState(false);
  const own = useOwnWay({ restore, cleanup });
  const submit = async (text: string) => {
    // the conversation has its id before its first message, and the message its checkpoint before it goes out
    const its = conversation || crypto.randomUUID();
    setConversation(its);
    const id = crypto.randomUUID();
    words.current.set(id, text);
    show(id, text);
    await createCheckpoint(id, app ?? "", its);
    await send(its, id, text);
  };
  const captured = enabled ? `${checkpoints.length} checkpoints` : "No app is in focus: nothing is captured.";
  return (
    <div className="host-column">
      <ul className="host-messages" aria-label="Chat">
        {messages.map((message) => (
          <Line
            key={message.id}
            message={message}
            checkpoint={getCheckpoint(message.id)}
            isRestoring={own.restoring === message.id}
            onRestore={() => setAsked(getCheckpoint(message.id))}
          />
        ))}
      </ul>
      <p role="status">{[captured, status, own.said].filter(Boolean).join(" · ")}</p>
      <Tools isOwn={isOwn} onOwn={setOwn} onTidyUp={() => void own.tidyUp()} />
      {error === null ? null : (
        <p className="host-problem" role="alert">
          {error.message}
        </p>
      )}
      <Form isBusy={status === "submitted" || status === "streaming"} onSend={submit} />
      {asked === undefined ? null : (
        <RestoreDialog
          checkpoint={asked}
          onCancel={() => setAsked(undefined)}
          {...(isOwn
            ? {
                onConfirm: () => {
                  setAsked(undefined);
                  void own.restore(asked.messageId);
                },
              }
            : {
                onRestored: ({ scope }) => {
                  setAsked(undefined);
                  if (scope !== "files") takeBack(asked.messageId);
                  void refresh();
                  onRestored();
                },
              })}
        />
      )}
    </div>
  );
}

function Tools(props: { readonly isOwn: boolean; onOwn(isOwn: boolean): void; onTidyUp(): void }): ReactNode {
  return (
    <p>
      <label>
        <input type="checkbox" checked={props.isOwn} onChange={() => props.onOwn(!props.isOwn)} /> The chat
        restores by itself
      </label>{" "}
      <button type="button" onClick={props.onTidyUp}>
        Keep only the last checkpoint
      </button>
    </p>
  );
}

/** The reference's way: the dialog only asks, the host restores and says so itself. */
function useOwnWay({ restore, cleanup }: Pick<Checkpoints, "restore" | "cleanup">) {
  const [said, setSaid] = useState("");
  const [restoring, setRestoring] = useState<string>();
  const restoreOne = async (id: string) => {
    setRestoring(id);
    try {
      const result = await restore(id);
      if (result === null) return;
      const { filesRestored, filesDeleted, bytesWritten } = result;
      setSaid(`Restored ${filesRestored}, deleted ${filesDeleted}, ${bytesWritten} bytes`);
    } catch {
      // the hook's `error` is shown above the form
    } finally {
      setRestoring(undefined);
    }
  };
  const tidyUp = async () => {
    const result = await cleanup(1);
    if (result !== null) setSaid(`Dropped ${result.snapshotsDeleted}`);
  };
  return { said, restoring, restore: restoreOne, tidyUp };
}

function Line(props: {
  readonly message: Message;
  readonly checkpoint: Checkpoint | undefined;
  readonly isRestoring: boolean;
  onRestore(): void;
}): ReactNode {
  const { message, checkpoint, isRestoring, onRestore } = props;
  if (message.role === "assistant") return <li className="host-answer">{message.text}</li>;
  return (
    <li className={message.isGone ? "host-user host-gone" : "host-user"} data-message={message.id}>
      <p>{message.text}</p>
      {checkpoint === undefined ? null : (
        <CheckpointBadge
          className="host-back"
          messageId={message.id}
          name={message.text}
          hasChanges={checkpoint.hasChanges}
          isRestoring={isRestoring}
          reveal="hover"
          onRestore={onRestore}
        />
      )}
    </li>
  );
}

function Form({
  isBusy,
  onSend,
}: {
  readonly isBusy: boolean;
  onSend(text: string): Promise<void>;
}): ReactNode {
  const [text, setText] = useState("");
  const submit = (event: { preventDefault(): void }) => {
    event.preventDefault();
    if (isBusy || text.trim() === "") return;
    setText("");
    void onSend(text.trim());
  };
  return (
    <form className="host-form" onSubmit={submit}>
      <input
        aria-label="Message"
        placeholder="write notes.txt hello"
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button type="submit">Send</button>
    </form>
  );
}
