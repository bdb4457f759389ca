/** Where else the history of this project is kept: how each remote stands, and the work that asks its server. */
import {
  ago,
  CommandLine,
  Icon,
  quantity,
  size,
  useBelay,
  useLoaded,
  visible,
  type Status,
} from "@belay/react";
import { useState, type ReactNode } from "react";
import { RemoteSpace } from "./remote-space.tsx";
import { useJob } from "./use-job.ts";

type Sync = Status["sync"][number];

/** What the server says of a remote beyond its name and address. */
interface Remote {
  readonly name: string;
  readonly url: string;
  readonly role?: string | null;
  readonly generation?: number | null;
  readonly recoveryKey?: boolean | null;
  readonly queued?: { readonly checkpoints: number; readonly bytes: number };
}

const STATES = {
  synced: { words: "synced", look: "b-chip b-ok" },
  queued: { words: "queued", look: "b-chip" },
  offline: { words: "offline", look: "b-chip b-warn" },
  problem: { words: "problem", look: "b-chip b-bad" },
} as const;

/** The card; without a remote it says how to get one, and asks nothing. */
export function RemotesCard({ status }: { readonly status: Status }): ReactNode {
  const { client, workspace } = useBelay();
  const { sync } = status;
  const { value } = useLoaded(
    sync.length === 0 ? null : `remotes ${workspace} ${JSON.stringify(sync)} !`,
    () => client.call("GET /api/remotes", { query: { workspace } }),
  );
  const remotes = (value?.remotes ?? []) as readonly Remote[];
  return (
    <section className="b-card b-in" aria-label="Remotes">
      <h2>Remotes</h2>
      {sync.length === 0 ? (
        <>
          <p className="b-muted">
            The history is on this machine only. A remote holds it encrypted by this machine.
          </p>
          <CommandLine
            words="Keep it on a server too"
            line="belay remote add <name> s3://<bucket>/<prefix>"
          />
        </>
      ) : (
        <ul className="b-branches">
          {sync.map((state) => (
            <RemoteRow
              key={state.remote}
              sync={state}
              remote={remotes.find(({ name }) => name === state.remote)}
            />
          ))}
        </ul>
      )}
    </section>
  );
}

function RemoteRow({
  sync,
  remote,
}: {
  readonly sync: Sync;
  readonly remote: Remote | undefined;
}): ReactNode {
  const name = visible(sync.remote);
  const { words, look } = STATES[sync.state];
  const job = useJob(sync.remote);
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="b-row b-wraps b-branch">
      <Icon name="disk" />
      <span className="b-col b-grow">
        <span className="b-row b-gap4 b-wraps">
          <span className="b-mono b-strong">{name}</span>
          <span className={look}>
            {sync.queued > 0 ? `${sync.queued.toLocaleString("en")} queued` : words}
          </span>
          {remote?.recoveryKey === false ? <span className="b-chip b-warn">no recovery key</span> : null}
        </span>
        <span className="b-small b-muted">{visible(remote?.url ?? "")}</span>
        <span className="b-small b-muted">{factsOf(sync, remote)}</span>
        {sync.problem === null ? null : <span className="b-small b-bad">{visible(sync.problem)}</span>}
      </span>
      <span className="b-row b-gap4 b-wraps">
        {(["sync", "verify"] as const).map((verb) => (
          <button
            key={verb}
            type="button"
            className="b-btn b-s"
            // what it shows while it is at work is part of its name
            aria-label={`${job.running === verb ? `${job.progress}: ` : ""}${verb === "sync" ? "Synchronise with" : "Verify"} ${name}`}
            aria-disabled={job.running !== undefined}
            title={job.running === undefined ? undefined : "Something is being exchanged with it already"}
            onClick={() => job.start(verb)}
          >
            {job.running === verb ? job.progress : verb === "sync" ? "Synchronise" : "Verify"}
          </button>
        ))}
        <button
          type="button"
          className="b-btn b-s b-quiet"
          aria-label={`Members and lines of ${name}`}
          aria-expanded={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          Members and lines
        </button>
      </span>
      {isOpen ? (
        <RemoteSpace remote={sync.remote} version={`${sync.lastPushedAt} ${sync.lastPulledAt}`} />
      ) : null}
    </li>
  );
}

/** "you are admin · keys of generation 2 · pushed 3 minutes ago, looked 1 minute ago · 12 KiB wait". */
function factsOf({ lastPushedAt, lastPulledAt }: Sync, remote: Remote | undefined): string {
  const bytes = remote?.queued?.bytes ?? 0;
  return [
    remote?.role ? `you are ${visible(remote.role)}` : "",
    remote?.generation ? `keys of generation ${remote.generation}` : "",
    lastPushedAt === null ? "nothing sent yet" : `sent ${ago(lastPushedAt)}`,
    lastPulledAt === null ? "" : `looked ${ago(lastPulledAt)}`,
    bytes > 0 ? `${size(bytes)} in ${quantity(remote?.queued?.checkpoints ?? 0, "checkpoint")} wait` : "",
  ]
    .filter((part) => part !== "")
    .join(" · ");
}
