/** Agents that Belay runs or ran: who, what for, how it stands, what it cost; those at work can be stopped. */
import {
  ago,
  AgentBadge,
  agentColour,
  agentName,
  FormDialog,
  Icon,
  quantity,
  quoted,
  useBelay,
  useLoaded,
  useToast,
  visible,
  type Run,
} from "@belay/react";
import { useState, type ReactNode } from "react";
import { comparePath, go } from "../address.ts";

const SHOWN = 20;
const AT_WORK: ReadonlySet<Run["status"]> = new Set(["queued", "starting", "running"]);

/** The card; nothing where no agent was run by Belay. */
export function RunsCard({ version }: { readonly version: number }): ReactNode {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`runs ${workspace} ${version} !`, () =>
    client.call("GET /api/runs", { query: { workspace } }),
  );
  const [stopping, setStopping] = useState<Run>();
  const runs = value?.runs ?? [];
  if (runs.length === 0) return null;
  return (
    <section className="b-card b-in" aria-label="Runs of agents">
      <h2>Runs of agents</h2>
      <ul className="b-branches">
        {runs.slice(0, SHOWN).map((run) => (
          <RunRow key={run.id} run={run} workspace={workspace} onStop={() => setStopping(run)} />
        ))}
      </ul>
      {runs.length > SHOWN ? (
        <p className="b-small b-muted">…and {runs.length - SHOWN} older ones: `belay agents list`</p>
      ) : null}
      {stopping === undefined ? null : <StopDialog run={stopping} onClose={() => setStopping(undefined)} />}
    </section>
  );
}

function RunRow(props: { readonly run: Run; readonly workspace: string; onStop(): void }): ReactNode {
  const { run, workspace } = props;
  const { agent, role, status, before, after } = run;
  const isAtWork = AT_WORK.has(status);
  return (
    <li className={`b-row b-branch ${agentColour(agent)}`}>
      <AgentBadge agent={agent} />
      <span className="b-col b-grow">
        <span className="b-row b-gap4 b-wraps">
          <span className="b-who">{visible(agentName(agent))}</span>
          {role === "" ? null : <span className="b-muted">{visible(role)}</span>}
          <span className={`b-chip ${isAtWork || status === "done" ? "b-ok" : "b-warn"}`}>{status}</span>
          {run.fork === null ? null : <span className="b-chip b-edge">in {visible(run.fork)}</span>}
        </span>
        <span className="b-small b-cut">{visible(quoted(run.prompt.replaceAll(/\s+/g, " "), 120))}</span>
        <span className="b-small b-muted">{factsOf(run)}</span>
      </span>
      {before !== null && after !== null ? (
        <button
          type="button"
          className="b-btn b-s"
          aria-label={`Compare before and after the run of ${visible(agentName(agent))}`}
          onClick={() => go(comparePath(workspace, before, after))}
        >
          <Icon name="compare" small />
          Compare
        </button>
      ) : null}
      {isAtWork ? (
        <button
          type="button"
          className="b-btn b-s"
          aria-label={`Stop the run of ${visible(agentName(agent))}…`}
          onClick={props.onStop}
        >
          Stop…
        </button>
      ) : null}
    </li>
  );
}

/** "2 files · $0.12 · 1,200 tokens · 3 minutes ago"; a cost that was not reported is not zero. */
function factsOf({ changes, cost, tokens, startedAt, endedAt, reason }: Run): string {
  const files = changes === null ? null : changes.added + changes.modified + changes.deleted;
  const at = endedAt ?? startedAt;
  return [
    reason === null ? "" : visible(reason),
    files === null ? "" : quantity(files, "file"),
    cost === null ? "cost not reported" : `$${cost.toFixed(2)}`,
    typeof tokens?.total === "number" ? quantity(tokens.total, "token") : "",
    at === null ? "" : ago(at),
  ]
    .filter((part) => part !== "")
    .join(" · ");
}

function StopDialog({ run, onClose }: { readonly run: Run; onClose(): void }): ReactNode {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [problem, setProblem] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const stop = async () => {
    setBusy(true);
    try {
      const answer = await client.call("POST /api/runs/:id/stop", {
        params: { id: run.id },
        query: { workspace },
        body: {},
      });
      onClose();
      toast({ text: `The run of ${visible(agentName(run.agent))} is ${answer.run.status}. Its work stays.` });
    } catch (error) {
      setBusy(false);
      setProblem((error as Error).message);
    }
  };
  return (
    <FormDialog
      title={`Stop the run of ${visible(agentName(run.agent))}?`}
      about="Its program and everything it started are ended. What it has done so far is captured and stays."
      problem={problem}
      isBusy={isBusy}
      look="b-btn b-danger"
      button="Stop it"
      canSend={!isBusy}
      onClose={onClose}
      onSend={() => !isBusy && void stop()}
    >
      <p className="b-muted">{visible(quoted(run.prompt, 200))}</p>
    </FormDialog>
  );
}
