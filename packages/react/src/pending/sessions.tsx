/** The sessions of a thread: what was approved or reset before, to compare with and to restore. */
import type { CallOutput } from "@belay/protocol";
import type { ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import type { Thread } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import { dayAndClock, quantity, visible } from "../words.ts";

type Session = CallOutput<"GET /api/threads/:id/sessions">["sessions"][number];

const WORDS = { active: "active", merged: "approved", abandoned: "reset" } as const;
const LOOKS = { active: "b-chip b-acc", merged: "b-chip b-ok", abandoned: "b-chip" } as const;

/** The sessions of a thread, oldest first. */
export function useSessions(thread: string, version: number): readonly Session[] {
  const { client } = useBelay();
  const { value } = useLoaded(`sessions ${thread} ${version} !`, () =>
    client.call("GET /api/threads/:id/sessions", { params: { id: thread } }),
  );
  return value?.sessions ?? NO_SESSIONS;
}

const NO_SESSIONS: readonly Session[] = [];

/** The table; nothing while there is only the first session. */
export function Sessions({
  thread,
  sessions,
  onCompare,
}: {
  readonly thread: Thread;
  readonly sessions: readonly Session[];
  /** Left out where two states cannot be shown. */
  onCompare?: ((from: string, to: string) => void) | undefined;
}): ReactNode {
  if (sessions.length < 2) return null;
  return (
    <details className="b-sessions">
      <summary>Sessions of “{visible(thread.title ?? thread.externalId)}”</summary>
      <table>
        <tbody>
          {sessions.toReversed().map((session) => (
            <tr key={session.name}>
              <td className="b-mono">{session.name}</td>
              <td>
                <span className={LOOKS[session.status]}>{WORDS[session.status]}</span>
              </td>
              <td className="b-muted">{aboutWords(session)}</td>
              <td className="b-r">
                {onCompare !== undefined &&
                session.base !== null &&
                (session.approved ?? session.head) !== null ? (
                  <button
                    type="button"
                    className="b-btn b-s b-quiet"
                    aria-label={`Compare ${session.name}`}
                    onClick={() => onCompare(session.base!, (session.approved ?? session.head)!)}
                  >
                    Compare
                  </button>
                ) : null}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

function aboutWords({ closedAt, createdAt, message, checkpoints }: Session): string {
  return [
    closedAt === null ? `since ${dayAndClock(createdAt)}` : dayAndClock(closedAt),
    message ? `“${visible(message)}”` : "",
    quantity(checkpoints, "checkpoint"),
  ]
    .filter((part) => part !== "")
    .join(", ");
}
