/** One thread: what is not approved yet, with Approve and Reset. */
import { useRef, useState, type ReactNode } from "react";
import { useBelay, useLiveState } from "../data/belay.tsx";
import { useVersion, type Thread } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import { agentColour, AgentBadge, Icon, Lines } from "../parts/icon.tsx";
import { unlessDoubled } from "../parts/double-press.ts";
import { useToast } from "../parts/toasts.tsx";
import { useGoBack } from "../plans/going-back.tsx";
import type { PlanRequest } from "../plans/request.ts";
import { agentName, dayAndClock, quantity, visible, WORDS } from "../words.ts";
import { PendingFiles } from "./pending-files.tsx";
import { Sessions, useSessions } from "./sessions.tsx";
import { useSession, type PendingSession } from "./use-session.ts";

type PendingFile = PendingSession["changedFiles"][number];

/** What the panel of a thread shows and does. */
export interface PendingPanelProps {
  /** A thread, or its id. */
  readonly thread: Thread | string;
  readonly isWorking?: boolean;
  /** Grows when something happened; the panel notices by itself where it is left out. */
  readonly version?: number;
  readonly className?: string;
  /** Opens the preview of a reset in the host's own way. */
  onPlan?(request: PlanRequest): void;
  /** Opens two states side by side; left out where the host cannot. */
  onCompare?(from: string, to: string): void;
}

/** The panel of what is pending in a thread: its files, approving and resetting them. */
export function PendingPanel({ thread, ...props }: PendingPanelProps): ReactNode {
  const { client } = useBelay();
  const { value, error } = useLoaded(typeof thread === "string" ? `thread ${thread} !` : null, () =>
    client.call("GET /api/threads/:id", { params: { id: thread as string } }),
  );
  const known = typeof thread === "string" ? value?.thread : thread;
  if (error !== undefined) return <p className="belay b-empty">{visible(error.message)}</p>;
  return known === undefined ? null : <Panel {...props} thread={known} />;
}

interface PanelProps extends PendingPanelProps {
  readonly thread: Thread;
}

function Panel(props: PanelProps): ReactNode {
  const { thread, className = "" } = props;
  const noticed = useVersion();
  const version = props.version ?? noticed;
  const { session, error, approvals, approve } = useSession(thread.id, version);
  const files = session?.changedFiles ?? [];
  const sessions = useSessions(thread.id, version + approvals);
  const base = sessions.find(({ status }) => status === "active")?.base ?? null;
  const goBack = useGoBack();
  const isOffline = useLiveState().kind === "waiting";
  return (
    <section
      className={`belay b-card ${agentColour(thread.agent)} ${className}`}
      aria-label={visible(thread.title ?? thread.externalId)}
    >
      <div className="b-row b-pending-head">
        <AgentBadge agent={thread.agent} />
        <div className="b-col b-grow">
          <span className="b-strong b-cut">{visible(thread.title ?? thread.externalId)}</span>
          <span className="b-small b-muted">
            {[agentName(thread.agent), session?.activeSession, pendingWords(session)]
              .filter(Boolean)
              .join(" · ")}
            {props.isWorking ? (
              <>
                {" · "}
                <span className="b-ok">working</span>
              </>
            ) : null}
          </span>
        </div>
        <Lines plus={sum(files, "additions")} minus={sum(files, "deletions")} />
        <Decide
          {...props}
          files={files.length}
          why={isOffline ? WORDS.offline : whyNot(session, error)}
          onApprove={approve}
        />
      </div>
      {error === undefined ? null : <p className="b-skip">{visible(error.message)}</p>}
      {files.length === 0 ? null : (
        <PendingFiles thread={thread.id} files={files} base={base} onPlan={props.onPlan ?? goBack} />
      )}
      <Sessions
        thread={thread}
        sessions={sessions}
        onPlan={props.onPlan ?? goBack}
        onCompare={props.onCompare}
      />
    </section>
  );
}

function sum(files: readonly PendingFile[], field: "additions" | "deletions"): number {
  return files.reduce((total, file) => total + file[field], 0);
}

/** "5 files since you approved at 10:31", "nothing pending, approved yesterday at 17:40". */
function pendingWords(session: PendingSession | undefined): string {
  if (session === undefined) return "";
  const { changedFiles, lastApprovedAt } = session;
  const approved =
    lastApprovedAt === null ? "nothing approved yet" : `approved ${dayAndClock(lastApprovedAt)}`;
  return changedFiles.length === 0
    ? `nothing pending, ${approved}`
    : `${quantity(changedFiles.length, "file")} · ${approved}`;
}

/** Why nothing can be approved or reset; undefined where it can. */
function whyNot(session: PendingSession | undefined, error: Error | undefined): string | undefined {
  if (error !== undefined) return "What is pending is not known";
  if (session === undefined) return "What is pending is being looked at";
  return session.changedFiles.length === 0 ? "Nothing is pending" : undefined;
}

/** Reset, and Approve with a second press, so that a slip approves nothing. */
function Decide(
  props: PanelProps & {
    readonly files: number;
    readonly why: string | undefined;
    onApprove(message: string): Promise<void>;
  },
): ReactNode {
  const { thread, files, why } = props;
  const goBack = useGoBack();
  const onPlan = props.onPlan ?? goBack;
  const toast = useToast();
  const [message, setMessage] = useState<string>();
  const isBusy = useRef(false);
  const name = visible(thread.title ?? thread.externalId);
  const approve = async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    try {
      await props.onApprove(message ?? "");
      toast({ text: `Approved ${quantity(files, "file")} of ${name}.` });
      setMessage(undefined);
    } catch (error) {
      toast({ text: (error as Error).message, isFailure: true });
    } finally {
      isBusy.current = false;
    }
  };
  if (message !== undefined && files > 0)
    return (
      <ApproveForm files={files} message={message} onMessage={setMessage} onApprove={() => void approve()} />
    );
  return (
    <>
      <button
        type="button"
        className="b-btn"
        aria-disabled={why !== undefined}
        title={why}
        data-reset
        aria-label={`Reset… ${name}`}
        onClick={() => why ?? onPlan({ kind: "reset", thread: thread.id, name: `“${name}”` })}
      >
        <Icon name="back" />
        Reset…
      </button>
      <button
        type="button"
        data-approve
        className={why === undefined ? "b-btn b-good" : "b-btn"}
        aria-disabled={why !== undefined}
        title={why}
        onClick={() => why ?? setMessage("")}
      >
        <Icon name="check" />
        {files === 0 ? "Approve" : `Approve ${quantity(files, "file")}…`}
        <span className="b-vh"> of {name}</span>
      </button>
    </>
  );
}

/** The second press, with room for a message; Esc takes the first one back. */
function ApproveForm(props: {
  readonly files: number;
  readonly message: string;
  onMessage(message: string | undefined): void;
  onApprove(): void;
}): ReactNode {
  return (
    <form
      className="b-row b-approve"
      onSubmit={(event) => {
        event.preventDefault();
        props.onApprove();
      }}
      onKeyDown={(event) => {
        if (event.key !== "Escape") return;
        event.preventDefault();
        props.onMessage(undefined);
      }}
    >
      <input
        className="b-field"
        aria-label="Message, may stay empty"
        placeholder="Message, may stay empty"
        value={props.message}
        autoFocus
        onChange={(event) => props.onMessage(event.target.value)}
      />
      <button type="submit" className="b-btn b-good" onClick={unlessDoubled}>
        <Icon name="check" />
        Approve {quantity(props.files, "file")}
      </button>
    </form>
  );
}
