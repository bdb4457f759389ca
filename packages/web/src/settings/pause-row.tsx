/** Stops automatic captures for a while, and starts them again. */
import { clock, useBelay, useToast, type Status } from "@belay/react";
import { useState, type ReactNode } from "react";

const MINUTES = [15, 60, 240] as const;

/** The row of the triggers; what is chosen holds for this project. */
export function PauseRow({ status }: { readonly status: Status | undefined }): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [changed, setChanged] = useState<{ readonly until: string | null }>();
  const until = changed === undefined ? (status?.paused?.until ?? null) : changed.until;
  const set = (minutes: number | null) =>
    void client.call("PUT /api/pause", { query: { workspace }, body: { minutes } }).then(
      ({ paused }) => setChanged({ until: paused?.until ?? null }),
      (error: unknown) => toast({ text: (error as Error).message, isFailure: true }),
    );
  return (
    <div className="b-way">
      <span className="b-strong">Pause</span>
      {until === null ? (
        <div className="b-row b-gap4">
          {MINUTES.map((minutes) => (
            <button
              key={minutes}
              type="button"
              className="b-btn"
              aria-label={`Pause for ${minutesWords(minutes)}`}
              onClick={() => set(minutes)}
            >
              {minutesWords(minutes)}
            </button>
          ))}
        </div>
      ) : (
        <button type="button" className="b-btn b-main" onClick={() => set(null)}>
          Resume
        </button>
      )}
      <p className="b-small b-muted" role="status">
        {until === null
          ? "Nothing is captured automatically in this project meanwhile. What you do in the page still is."
          : `Paused until ${clock(until)}: what agents do now can only be undone as a whole.`}
      </p>
    </div>
  );
}

function minutesWords(minutes: number): string {
  return minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
}
