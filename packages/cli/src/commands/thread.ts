import type { AgentRun, History, Message, Session, ThreadSummary, Workspace } from "@belay/engine";
import { defineCommand, type Call } from "../call/command.ts";
import { EXIT } from "@belay/protocol/errors";
import { agentJson, messageJson, sessionJson, threadJson } from "@belay/server/json";
import { positiveNumber } from "../call/number-option.ts";
import { withWorkspace } from "../wiring/open-workspace.ts";
import { factTable, section } from "../output/facts.ts";
import type { Output } from "../output/output.ts";
import { count, dayAndTime, relativeTime } from "@belay/tui/text";
import { table } from "../output/table.ts";
import { threadLabel } from "../output/thread-table.ts";
import { visible } from "../output/visible.ts";

/** More than any thread has. */
const ALL_MESSAGES = 1_000_000_000;

export default defineCommand({
  usage: "thread <thread> [--limit n] [--before index]",
  about: "One thread: its sessions, its messages and the checkpoint before each, its agents.",
  options: {
    limit: {
      type: "string",
      short: "n",
      value: "n",
      about: "the last n messages (20 on a terminal, else all)",
    },
    before: { type: "string", value: "index", about: "only messages before this index" },
  },
  operands: { min: 1, max: 1 },
  examples: ["belay thread kqzv", "belay thread kqzv --limit 5 --before 12"],
  run: (call) => {
    const limit =
      positiveNumber("--limit", call.options.limit) ??
      (call.output.isTerminal && !call.json ? 20 : ALL_MESSAGES);
    const before = positiveNumber("--before", call.options.before);
    return withWorkspace(call, async (workspace) => {
      const thread = await workspace.threads.get(call.operands[0] ?? "");
      const history = await workspace.threads.history(thread.id, {
        limit,
        ...(before !== undefined && { before }),
      });
      await print(call, workspace, { thread, history });
      return EXIT.done;
    });
  },
});

async function print(
  call: Pick<Call, "json" | "output">,
  workspace: Workspace,
  { thread, history }: { thread: ThreadSummary; history: History },
): Promise<void> {
  const [sessions, agents] = [
    await workspace.approvals.sessions(thread.id),
    await workspace.turns.agents(thread.id),
  ];
  const { messages, total, cursor } = history;
  if (!call.json) call.output.print(threadText({ thread, history, sessions, agents }, call.output));
  else
    call.output.json({
      thread: threadJson(thread, workspace.id),
      sessions: sessions.map(sessionJson),
      messages: messages.map(messageJson),
      messagesTotal: total,
      cursor,
      agents: agents.map(agentJson),
    });
}

interface Shown {
  readonly thread: ThreadSummary;
  readonly history: History;
  readonly sessions: readonly Session[];
  readonly agents: readonly AgentRun[];
}

function threadText({ thread, history, sessions, agents }: Shown, output: Output): string {
  const parts = [
    output.style.bold(threadLabel(thread)),
    factTable(
      [
        ["id", thread.id],
        ["known as", visible(thread.externalId)],
        ["since", `${dayAndTime(thread.createdAt)}, last event ${relativeTime(thread.updatedAt)}`],
        ["sessions", sessions.map(({ name, status }) => `${name} ${status}`).join(", ")],
      ],
      output,
    ),
  ];
  if (agents.length > 0) parts.push(section("Agents", agentList(agents, output), output));
  if (history.messages.length > 0)
    parts.push(section("Messages", messageList(history.messages, output), output));
  if (history.cursor !== null)
    parts.push(output.style.dim(`… ${count(history.cursor, "earlier message")}: --before ${history.cursor}`));
  return parts.join("\n");
}

function messageList(messages: readonly Message[], output: Output): string {
  const { style } = output;
  const rows = messages.map(({ index, role, content, checkpoint, rolledBack, uncaptured }) => [
    { text: String(index), paint: style.bold },
    { text: role, paint: role === "user" ? style.cyan : style.blue },
    { text: checkpoint?.slice(0, 8) ?? "", paint: style.dim },
    {
      text: `${rolledBack ? "(rolled back) " : ""}${uncaptured === null ? "" : `(not captured: ${visible(uncaptured)}) `}${visible(content.replaceAll(/\s+/g, " "))}`,
      ...(rolledBack && { paint: style.dim }),
    },
  ]);
  return table(rows, { width: output.width, indent: "  ", flexible: 3, right: [0] });
}

/** Only what the agent reported: unknown is not zero. */
function spentText(tokens: number | null, cost: number | null): string {
  return [
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(cost === null ? [] : [`${cost.toFixed(2)} $`]),
  ].join(", ");
}

function agentList(agents: readonly AgentRun[], output: Output): string {
  const rows = agents.map(({ id, role, status, startedAt, cost, tokens }) => [
    { text: visible(role), paint: output.style.cyan },
    { text: visible(status) },
    { text: relativeTime(startedAt) },
    { text: spentText(tokens, cost), paint: output.style.dim },
    { text: visible(id), paint: output.style.dim },
  ]);
  return table(rows, { width: output.width, indent: "  ", flexible: 4 });
}
