/** How much space the store takes, how to make room, and what is protected. */
import { useEffect, useState, type ReactNode } from "react";
import { useBelay } from "../data/belay.tsx";
import { useStatus, useVersion, type Status } from "../data/facts.ts";
import { useLoaded } from "../data/loaded.ts";
import { Icon } from "../parts/icon.tsx";
import { useToast } from "../parts/toasts.tsx";
import { clock, gapReason, quantity, size, visible } from "../words.ts";
import { Space } from "./space.tsx";

/** The panel: space, ways to make room, coverage. */
export function StoragePanel({
  className = "",
  children,
  ...props
}: {
  readonly className?: string;
  /** Cards of the host, above the table of checkpoints. */
  readonly children?: ReactNode;
  /** Leads to the settings of limits; left out where there are none. */
  onSettings?(): void;
}): ReactNode {
  const { client, workspace } = useBelay();
  const version = useVersion();
  const [changes, setChanges] = useState(0);
  const status = useStatus(version);
  const { value, error } = useLoaded(`storage ${workspace} ${version} ${changes} !`, () =>
    client.call("GET /api/storage", { query: { workspace } }),
  );
  return (
    <div className={`belay b-wrap ${className}`}>
      {error === undefined ? null : <p className="b-empty">{visible(error.message)}</p>}
      {value === undefined ? null : (
        <Space storage={value} version={`${value.bytes} ${value.checkpoints} ${changes}`} {...props} />
      )}
      <div className="b-two-cards">
        <LaterMakeRoom version={String(changes)} onChanged={() => setChanges(changes + 1)} />
        {status === undefined ? null : <Coverage status={status} {...props} />}
      </div>
      {children}
      <LaterTable key={changes} onChanged={() => setChanges(changes + 1)} />
    </div>
  );
}

/** Loaded when it is first shown, as the table is: hosts without the panel do not pay for them. */
function LaterMakeRoom(props: { readonly version: string; onChanged(): void }): ReactNode {
  const { value, error } = useLoaded("ways to make room", () => import("./make-room.tsx"));
  if (error !== undefined) return <p className="b-empty">{visible(error.message)}</p>;
  return value === undefined ? null : <value.MakeRoom {...props} />;
}

function LaterTable(props: { onChanged(): void }): ReactNode {
  const { value, error } = useLoaded("checkpoint table", () => import("./checkpoint-table.tsx"));
  if (error !== undefined) return <p className="b-empty">{visible(error.message)}</p>;
  return value === undefined ? null : <value.CheckpointTable {...props} />;
}

const SHOWN = 50;

function Coverage({ status, onSettings }: { readonly status: Status; onSettings?(): void }): ReactNode {
  const { gaps, excluded, watching, paused } = status;
  const isLive = watching.state === "live" && paused === null;
  return (
    <section className="b-card b-in" aria-label="What is protected">
      <h2>What is protected</h2>
      <p className="b-row">
        <Icon name="shield" />
        {quantity(status.newest?.files ?? 0, "file")}, {size(status.newest?.bytes ?? 0)}
        {isLive ? ", captured as they change" : ""}
      </p>
      {isLive ? null : (
        <p className="b-row">
          <span className="b-warn">
            <Icon name="warn" />
          </span>
          {paused === null
            ? `Not watched now: ${visible(watching.reason ?? "looked at when asked")}.`
            : `Paused until ${clock(paused.until)}: what agents do now can only be undone as a whole.`}
        </p>
      )}
      {gaps.slice(0, SHOWN).map((gap) => (
        <p key={gap.path} className="b-row">
          <span className="b-warn">
            <Icon name="warn" />
          </span>
          <span className="b-mono b-cut">{visible(gap.path)}</span>
          <span className="b-muted">
            {size(gap.size)}, {gapReason(gap.reason)}
          </span>
          <span className="b-grow" />
          {onSettings === undefined ? null : (
            <button
              type="button"
              className="b-btn b-s b-quiet"
              aria-label={`Raise the limit for ${visible(gap.path)}`}
              onClick={onSettings}
            >
              Raise the limit
            </button>
          )}
        </p>
      ))}
      {excluded.length === 0 ? null : (
        <table className="b-table">
          <thead>
            <tr>
              <th>Left out</th>
              <th>by</th>
              <th className="b-r">size</th>
            </tr>
          </thead>
          <tbody>
            {excluded.slice(0, SHOWN).map((entry) => (
              <tr key={entry.path}>
                <td className="b-mono">{visible(entry.path)}</td>
                <td className="b-muted">{visible(entry.rule)}</td>
                <td className="b-r b-num">{entry.bytes === null ? "" : size(entry.bytes)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

/** Proves the store sound; says what is affected where it is not. */
export function VerifyButton(): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [isBusy, setBusy] = useState(false);
  const share = useVerifyShare(isBusy);
  const verify = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const { ok, checkpoints, problems, problemsTotal } = await client.call("POST /api/verify", {
        query: { workspace },
        body: { full: true },
      });
      toast(
        ok
          ? { text: `${quantity(checkpoints, "checkpoint")} verified, every byte. The store is sound.` }
          : {
              text: `${quantity(problemsTotal, "problem")}: ${problems[0]?.detail ?? ""} Your files are untouched.`,
              isFailure: true,
            },
      );
    } catch (error) {
      toast({ text: (error as Error).message, isFailure: true });
    }
    setBusy(false);
  };
  return (
    <button type="button" className="b-btn" aria-disabled={isBusy} onClick={() => void verify()}>
      <Icon name="shield" />
      {isBusy ? `Verifying${share === undefined ? "…" : ` ${share} %`}` : "Verify"}
    </button>
  );
}

const LOOK_MS = 500;

/** How many percent are verified, while it runs. */
function useVerifyShare(isBusy: boolean): number | undefined {
  const { client, workspace } = useBelay();
  const [share, setShare] = useState<number>();
  useEffect(() => {
    if (!isBusy) return setShare(undefined);
    const look = () =>
      void client.call("GET /api/verify", { query: { workspace } }).then(
        ({ running }) => running?.total && setShare(Math.floor((100 * running.done) / running.total)),
        () => undefined,
      );
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, [client, workspace, isBusy]);
  return share;
}
