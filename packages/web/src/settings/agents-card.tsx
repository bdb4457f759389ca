/** The agents of this project: whether their hooks are in place, and when each was heard of last. */
import { agentColour, AgentBadge, ago, Icon, useAct, visible, type Status } from "@belay/react";
import { useState, type ReactNode } from "react";
import { HooksDialog, type HooksAsked } from "./hooks-dialog.tsx";

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
export function AgentsCard(props: {
  readonly status: Status | undefined;
  /** Hooks were installed or removed. */
  onChanged(): void;
}): ReactNode {
  const { status, onChanged } = props;
  const [asked, setAsked] = useState<HooksAsked>();
  const agents = (status?.capture as { readonly agents?: readonly AgentState[] } | undefined)?.agents ?? [];
  return (
    <section className="b-card b-in" aria-label="Agents">
      <h2>Agents</h2>
      {agents.length === 0 ? (
        <p className="b-muted">
          No agent is used in this project yet. <code>{INSTALL}</code> puts the hooks of those it finds in
          place.
        </p>
      ) : (
        <table className="b-table b-agents">
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
                  <HookButtons agent={agent} onAsk={setAsked} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {asked === undefined ? null : (
        <HooksDialog asked={asked} onClose={() => setAsked(undefined)} onChanged={onChanged} />
      )}
    </section>
  );
}

/** What can be done with an agent's hooks; hooks that are not trusted yet are trusted in the agent. */
function HookButtons(props: { readonly agent: AgentState; onAsk(asked: HooksAsked): void }): ReactNode {
  const { agent, onAsk } = props;
  const act = useAct();
  const button = (action: HooksAsked["action"], words: string) => (
    <button
      type="button"
      className="b-btn b-s b-quiet"
      aria-label={`${words.replace("…", "")} the hooks of ${visible(agent.title)}…`}
      {...act(() => onAsk({ action, agent: agent.agent, title: agent.title }))}
    >
      {words}
    </button>
  );
  return (
    <span className="b-row b-gap4">
      {agent.hooks === "missing" ? button("install", "Install…") : null}
      {agent.hooks === "outdated" ? button("install", "Update…") : null}
      {agent.hooks === "missing" ? null : button("remove", "Remove…")}
    </span>
  );
}

function aboutWords({ problem, hint, lastEvent }: AgentState): string {
  const heard = lastEvent === null ? "no event yet" : `last event ${ago(lastEvent)}`;
  return visible(problem === null ? heard : [problem, hint].filter(Boolean).join(". "));
}
