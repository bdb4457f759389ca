/** The sessions of a thread: what was approved or reset before, to compare with and to restore. */
import type { CallOutput } from "@belay/protocol";
import type { ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import type { Thread } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import { useAct } from "../parts/use-act.ts";
import type { PlanRequest } from "../plans/request.ts";
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
  onPlan,
  onCompare,
}: {
  readonly thread: Thread;
  readonly sessions: readonly Session[];
  /** Opens the preview of going back to what a session came to. */
  onPlan(request: PlanRequest): void;
  /** Left out where two states cannot be shown. */
  onCompare?: ((from: string, to: string) => void) | undefined;
}): ReactNode {
  const act = useAct();
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
                {onCompare !== undefined && session.base !== null && endOf(session) !== null ? (
                  <button
                    type="button"
                    className="b-btn b-s b-quiet"
                    aria-label={`Compare ${session.name}`}
                    onClick={() => onCompare(session.base!, endOf(session)!)}
                  >
                    Compare
                  </button>
                ) : null}
                {session.status === "active" || endOf(session) === null ? null : (
                  <button
                    type="button"
                    className="b-btn b-s b-quiet"
                    aria-label={`Restore what was ${WORDS[session.status]} in ${session.name}…`}
                    {...act(() =>
                      onPlan({
                        kind: "restore",
                        target: endOf(session)!,
                        thread: thread.id,
                        name: `what was ${WORDS[session.status]} in ${session.name}`,
                        ...(session.closedAt !== null && { at: session.closedAt }),
                      }),
                    )}
                  >
                    Restore…
                  </button>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  );
}

/** The state that a session came to. */
function endOf({ approved, head }: Session): string | null {
  return approved ?? head;
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
