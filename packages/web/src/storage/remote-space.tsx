/** Who shares a remote, and the lines of other machines there; its server is asked when this is opened. */
import { ago, Icon, useBelay, useLoaded, useToast, visible } from "@belay/react";
import type { RouteAnswer } from "@belay/protocol";
import { useState, type ReactNode } from "react";
import { comparePath, go } from "../address.ts";

/** The two lists; `version` changes when something was exchanged. */
export function RemoteSpace(props: { readonly remote: string; readonly version: string }): ReactNode {
  const { remote, version } = props;
  const { client, workspace } = useBelay();
  const input = { params: { name: remote }, query: { workspace } };
  const members = useLoaded(`members ${workspace} ${remote} ${version} !`, () =>
    client.call("GET /api/remotes/:name/members", input),
  );
  const lines = useLoaded(`lines ${workspace} ${remote} ${version} !`, () =>
    client.call("GET /api/remotes/:name/lines", input),
  );
  return (
    <div className="b-space">
      <h3>Members</h3>
      <Waiting {...members} />
      <ul className="b-plain-list" aria-label={`Members of ${visible(remote)}`}>
        {(members.value?.members ?? []).map(({ id, name, role, isOwn, until }) => (
          <li key={id} className="b-row b-wraps b-gap4">
            <span className="b-strong">{visible(name)}</span>
            <span className="b-chip b-edge">{visible(role)}</span>
            {isOwn ? <span className="b-small b-muted">this machine</span> : null}
            {until === null ? null : <span className="b-small b-muted">ends {ago(until)}</span>}
          </li>
        ))}
      </ul>
      <h3>Lines of other machines</h3>
      <Waiting {...lines} />
      {lines.value?.lines.length === 0 ? (
        <p className="b-muted">None is known here. Synchronise looks for them.</p>
      ) : null}
      <ul className="b-plain-list" aria-label={`Lines of ${visible(remote)}`}>
        {(lines.value?.lines ?? []).map((line) => (
          <Line key={line.line} remote={remote} line={line} version={version} />
        ))}
      </ul>
    </div>
  );
}

type KnownLine = RouteAnswer<"GET /api/remotes/:name/lines">["lines"][number];

/** A line of another machine: its newest checkpoint, and when asked for the others. */
function Line(props: {
  readonly remote: string;
  readonly line: KnownLine;
  readonly version: string;
}): ReactNode {
  const { remote, line, version } = props;
  const [isOpen, setOpen] = useState(false);
  return (
    <li className="b-col b-gap4">
      <span className="b-row b-wraps b-gap4">
        <Icon name="branch" small />
        <span className="b-strong">{visible(line.name)}</span>
        <span className="b-small b-muted">{ago(line.at)}</span>
        {line.newest === null ? null : (
          <>
            <span className="b-cut b-grow">{visible(line.newest.description)}</span>
            <CompareButton remote={remote} what={`the newest of ${line.name}`} checkpoint={line.newest.id} />
            <button
              type="button"
              className="b-btn b-s b-quiet"
              aria-label={`Checkpoints of ${visible(line.name)}`}
              aria-expanded={isOpen}
              onClick={() => setOpen(!isOpen)}
            >
              Checkpoints
            </button>
          </>
        )}
      </span>
      {isOpen ? <Lane remote={remote} line={line} version={version} /> : null}
    </li>
  );
}

/** What a line holds, newest first. */
function Lane(props: {
  readonly remote: string;
  readonly line: KnownLine;
  readonly version: string;
}): ReactNode {
  const { remote, line, version } = props;
  const { client, workspace } = useBelay();
  const loaded = useLoaded(`lane ${workspace} ${remote} ${line.line} ${version} !`, () =>
    client.call("GET /api/remotes/:name/lines/:line/checkpoints", {
      params: { name: remote, line: line.line },
      query: { workspace },
    }),
  );
  return (
    <>
      <Waiting {...loaded} />
      <ol className="b-plain-list" aria-label={`Checkpoints of ${visible(line.name)}`}>
        {(loaded.value?.checkpoints ?? []).map(({ id, description, createdAt }) => (
          <li key={id} className="b-row b-wraps b-gap4">
            <span className="b-mono b-small b-muted">{id.slice(0, 8)}</span>
            <span className="b-cut b-grow">{visible(description)}</span>
            <span className="b-small b-muted">{ago(createdAt)}</span>
            <CompareButton remote={remote} what={id.slice(0, 8)} checkpoint={id} />
          </li>
        ))}
      </ol>
    </>
  );
}

function Waiting({ error, isLoading }: { readonly error: Error | undefined; readonly isLoading: boolean }) {
  if (error !== undefined) return <p className="b-bad">{visible(error.message)}</p>;
  return isLoading ? <p className="b-muted">Asking…</p> : null;
}

/** Brings a checkpoint of a line here and compares it with the disk. Nothing on the disk changes. */
function CompareButton(props: {
  readonly remote: string;
  readonly what: string;
  readonly checkpoint: string;
}): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [isBusy, setBusy] = useState(false);
  const bring = async () => {
    if (isBusy) return;
    setBusy(true);
    try {
      const { checkpoint } = await client.call("POST /api/remotes/:name/fetch", {
        params: { name: props.remote },
        query: { workspace },
        body: { reference: props.checkpoint },
      });
      go(comparePath(workspace, checkpoint.id, "disk"));
    } catch (error) {
      toast({ text: (error as Error).message, isFailure: true });
      setBusy(false);
    }
  };
  return (
    <button
      type="button"
      className="b-btn b-s"
      aria-label={`Compare ${visible(props.what)} with the disk`}
      aria-disabled={isBusy}
      title="Brings that checkpoint here; the files on disk stay as they are"
      onClick={() => void bring()}
    >
      {isBusy ? "Fetching…" : "Compare…"}
    </button>
  );
}
