/**
 * The host of agents' events, on a workspace: in the resident process, or in the hook's own where there is none. The
 * agents' package owns the interface; here it meets the engine.
 */
import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { AgentHost, Deadline } from "@belay/agents/hook";
import {
  processIdentity,
  readProgramSettings,
  type ProcessIdentity,
  type RolledBack,
  type TakenCheckpoint,
  type ThreadId,
  type Workspace,
} from "@belay/engine";
import { pathJson } from "@belay/server/json";
import { runSlashCommand } from "./slash-command.ts";
import { touchFiles } from "../search-index/workspace-indexes.ts";
import { noteUncaptured } from "./uncaptured-work.ts";

/** An open workspace, and a queue for work on it. */
export interface OpenedWorkspace {
  readonly workspace: Workspace;
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
}

/** Opens the workspace of a directory; null where nothing is protected. */
export type OpenWorkspace = (directory: string) => Promise<OpenedWorkspace | null>;

interface AgentThread {
  readonly opened: OpenedWorkspace;
  readonly id: ThreadId;
  readonly deadline: Deadline | undefined;
}

type Host = AgentHost<AgentThread>;

/** The host. `trouble` does nothing: the hooks' own log has it, whatever state the store is in. */
export function createAgentHost(
  open: OpenWorkspace,
  home: string,
  { captureFailed }: Pick<Host, "captureFailed"> = {},
): Host {
  return {
    ...(captureFailed && { captureFailed }),
    openThread: (request) => openThread(open, request),
    rootOf: ({ opened }) => opened.workspace.root,
    message: (message) => inThread(message.thread, (workspace, id) => prompt(workspace, id, message)),
    toolBefore: (call) =>
      inThread(call.thread, async (workspace, id) => {
        const { tool, toolUseId, run, summary, nature } = call;
        const taken = await workspace.turns.beginTool(id, {
          tool,
          toolUseId,
          paths: call.paths,
          deadline: call.thread.deadline,
          ...(summary && { summary }),
          ...(nature && { nature }),
          ...(run && { agentId: run.id }),
        });
        return { notices: overlapNotices(home, workspace, taken) };
      }),
    filesRead: ({ cwd, paths }) =>
      void open(cwd)
        .then((found) => found && touchFiles(found.workspace, cwd, paths))
        .catch(() => undefined),
    toolAfter: ({ thread, toolUseId, tool, status, background, paths }) =>
      inThread(thread, async (workspace, id) => {
        const unfinished = status === "unfinished";
        await workspace.turns.endTool(id, {
          toolUseId,
          tool,
          unfinished,
          background,
          deadline: thread.deadline,
        });
        touchFiles(workspace, workspace.root, paths);
      }),
    interrupted: ({ thread, at }) =>
      inThread(thread, async (workspace, id) => {
        await workspace.turns.interrupted(id, at);
      }),
    agentStart: ({ thread, run }) =>
      inThread(thread, async (workspace, id) => {
        await workspace.turns.beginAgent(id, { ...run, deadline: thread.deadline });
      }),
    agentEnd: ({ thread, run, status }) =>
      inThread(thread, async (workspace, id) => {
        await workspace.turns.endAgent(id, { id: run.id, status, deadline: thread.deadline });
      }),
    turnEnd: (end) => inThread(end.thread, (workspace, id) => endTurn(workspace, id, end)),
    sessionEnd: (thread) =>
      inThread(thread, async (workspace, id) => {
        await workspace.threads.close(id);
      }),
    conversationRewound: ({ thread, messageId }) =>
      inThread(thread, async (workspace, id) => {
        if (messageId !== null) await workspace.restoreTo(messageId, { thread: id, scope: "conversation" });
      }),
    uncaptured: async (work) => {
      const opened = await open(work.cwd);
      await opened?.inTurn(() => noteUncaptured(opened.workspace, work));
    },
    command: (command) => runSlashCommand(home, command),
    trouble: () => Promise.resolve(),
  };
}

function inThread<Result>(
  { opened, id }: AgentThread,
  work: (workspace: Workspace, id: ThreadId) => Promise<Result>,
): Promise<Result> {
  return opened.inTurn(() => work(opened.workspace, id));
}

async function openThread(
  open: OpenWorkspace,
  request: Parameters<Host["openThread"]>[0],
): Promise<AgentThread | null> {
  const { agent, externalId, cwd, deadline, brackets, subagent } = request;
  const opened = await open(cwd);
  if (opened === null) return null;
  const client = clientOf(request);
  const named = subagent !== undefined && isWorktree(opened.workspace.root) ? { title: subagent } : {};
  const { id } = await opened.inTurn(() =>
    opened.workspace.threads.create({ agent, externalId, deadline, brackets, client, ...named }),
  );
  return { opened, id, deadline };
}

/** Null also where the number is another process's here, as between containers. */
function clientOf({ client }: Parameters<Host["openThread"]>[0]): ProcessIdentity | null {
  if (client === undefined) return null;
  const found = processIdentity(client.pid);
  return found.started === client.started ? found : null;
}

async function prompt(
  workspace: Workspace,
  id: ThreadId,
  { messageId, text, summary, thread }: Parameters<Host["message"]>[0],
): Promise<{ notices: string[] }> {
  const { deadline } = thread;
  const { rolledBack } = await workspace.turns.prompt(id, { content: text, summary, messageId, deadline });
  return { notices: rolledBack.map(noticeOf) };
}

/** `Undid: add a parser; changed: "src/a.ts", "src/b.ts" and 3 more` */
function noticeOf({ description, paths, pathsTotal }: RolledBack): string {
  const names = paths.map((path) => JSON.stringify(pathJson(path).path)).join(", ");
  const more = pathsTotal > paths.length ? ` and ${pathsTotal - paths.length} more` : "";
  return pathsTotal === 0 ? description : `${description}; changed: ${names}${more}`;
}

async function endTurn(
  workspace: Workspace,
  id: ThreadId,
  { answer, thread }: Parameters<Host["turnEnd"]>[0],
): Promise<void> {
  if (answer !== null) await workspace.threads.addMessage(id, { role: "assistant", content: answer });
  await workspace.turns.end(id, { deadline: thread.deadline });
}

/**
 * The root of the linked worktree to protect, or undefined. A linked worktree is not part of the workspace
 * around it: an agent that works in one gets its own, if the worktree's repository is protected.
 */
export async function worktreeToProtect(
  directory: string,
  { home, notFound }: { home: string; notFound: unknown },
): Promise<string | undefined> {
  // the user ended the protection of this directory: an agent does not bring it back
  if ((notFound as { facts?: { ended?: unknown } }).facts?.ended !== undefined) return undefined;
  const { findWorkspace } = await import("@belay/engine");
  for (let at = directory; at !== dirname(at); at = dirname(at)) {
    const pointer = join(at, ".git");
    if (!existsSync(pointer)) continue;
    const found = statSync(pointer).isFile() ? WORKTREE.exec(readFileSync(pointer, "utf8")) : null;
    if (found === null) return undefined;
    try {
      await (await findWorkspace(dirname(resolve(at, found[1]!)), { home })).close();
      return at;
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** No prompt names a thread there: the user types in another directory. */
function isWorktree(root: string): boolean {
  return statSync(join(root, ".git"), { throwIfNoEntry: false })?.isFile() === true;
}

/** The `.git` file of a linked worktree: it names a directory in the `.git` of its repository. */
const WORKTREE = /^gitdir: (.*[/\\]\.git)[/\\]worktrees[/\\][^/\\]+\s*$/;

/** [R797] One line for the agent, where the user wants agents to be told. */
function overlapNotices(
  home: string,
  { id }: Workspace,
  taken: Pick<TakenCheckpoint, "overlaps"> | null,
): readonly string[] {
  const overlaps = taken?.overlaps ?? [];
  if (overlaps.length === 0) return [];
  const { agents } = readProgramSettings(home, id);
  const { tellOverlap } = Object(agents) as { tellOverlap?: unknown };
  if (tellOverlap !== true && tellOverlap !== "on") return [];
  const paths = overlaps.map(({ path }) => path).join(", ");
  return [
    `Another agent in this directory changed ${paths} since your turn began: read it again before you write it.`,
  ];
}
