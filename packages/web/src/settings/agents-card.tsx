/** The agents of this project: whether their hooks are in place, and when each was heard of last. */
import { agentColour, AgentBadge, ago, copyText, Icon, useToast, visible, type Status } from "@belay/react";
import type { ReactNode } from "react";

/** What the status says of one agent. */
interface AgentState {
  readonly agent: string;
  readonly title: string;
  readonly captured: boolean;
  readonly hooks: "installed" | "outdated" | "missing" | "refused";
  readonly lastEvent: string | null;
  readonly problem: string | null;
  readonly hint: string | null;
}

const HOOKS = {
  installed: { words: "hooks in place", look: "b-chip b-ok" },
  outdated: { words: "hooks of an older version", look: "b-chip b-warn" },
  missing: { words: "no hooks", look: "b-chip b-warn" },
  refused: { words: "not trusted yet", look: "b-chip b-warn" },
} as const;

const INSTALL = "belay init";

/** The card of the settings that lists agents and their hooks. */
export function AgentsCard({ status }: { readonly status: Status | undefined }): ReactNode {
  const toast = useToast();
  const agents = (status?.capture as { readonly agents?: readonly AgentState[] } | undefined)?.agents ?? [];
  const copy = (line: string) => void copyText(line).then(() => toast({ text: `${line} was copied.` }));
  return (
    <section className="b-card b-in" aria-label="Agents">
      <h2>Agents</h2>
      {agents.length === 0 ? (
        <p className="b-muted">
          No agent is used in this project yet. <code>{INSTALL}</code> puts the hooks of those it finds in
          place.
        </p>
      ) : (
        <table className="b-table">
          <tbody>
            {agents.map((agent) => (
              <tr key={agent.agent} className={agentColour(agent.agent)}>
                <td>
                  <span className="b-row">
                    <AgentBadge agent={agent.agent} />
                    <span className="b-strong">{visible(agent.title)}</span>
                  </span>
                </td>
                <td>
                  <span className={HOOKS[agent.hooks].look}>
                    <Icon name={agent.hooks === "installed" ? "check" : "warn"} small />
                    {HOOKS[agent.hooks].words}
                  </span>
                </td>
                <td className="b-muted">{aboutWords(agent)}</td>
                <td className="b-r">
                  {agent.hooks === "installed" ? null : (
                    <button
                      type="button"
                      className="b-btn b-s b-quiet"
                      aria-label={`Copy the line that installs the hooks of ${agent.title}`}
                      onClick={() => copy(`${INSTALL} --agent ${agent.agent}`)}
                    >
                      <Icon name="copy" small />
                      Copy the line
                    </button>
                  )}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}

function aboutWords({ problem, hint, lastEvent }: AgentState): string {
  const heard = lastEvent === null ? "no event yet" : `last event ${ago(lastEvent)}`;
  return visible(problem === null ? heard : [problem, hint].filter(Boolean).join(". "));
}
