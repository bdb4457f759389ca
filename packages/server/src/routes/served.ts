/** Shared by handlers: the host, and how a request for a thread becomes work on its workspace. */
import {
  readProgramSettings,
  type Checkpoint,
  type MergePrograms,
  type Outcome,
  type Syntax,
  type ThreadId,
  type Workspace,
} from "@belay/engine";
import type { BackgroundWork } from "../hosting/background-work.ts";
import type { HostedWorkspace } from "../hosting/hosted-workspace.ts";
import type { Json, shapes } from "@belay/protocol";
import type { PageBook } from "../http/page-book.ts";
import type { EventStreams } from "../http/sse.ts";
import { untouchedText } from "../json/plan-json.ts";
import { ContractError } from "@belay/protocol/errors";
import type { WorkspaceHost } from "../hosting/workspace-host.ts";

/** What the handlers of a process work on. */
export interface Served extends EventStreams {
  readonly host: WorkspaceHost;
  readonly version: string;
  /** Pages that are open in browsers. */
  readonly pages: PageBook;
  /** The process itself; undefined where the application runs without it. */
  facts(): Omit<Json<typeof shapes.resident>, "workspaces"> | undefined;
  /** Whether a workspace is captured automatically; only code that knows agents can tell. */
  capture?: ((workspace: Workspace) => Promise<object>) | undefined;
  /** Forks an agent's conversation; only code that knows agents can. */
  fork?: ((workspace: Workspace, request: ForkRequest) => Promise<ForkedConversation>) | undefined;
  /** What knows the languages of files, for merges; without it only lines count. */
  syntax?: (() => Promise<Syntax | undefined>) | undefined;
  /** The programs of the settings that look at a merge before it is applied; only code that starts programs has them. */
  mergePrograms?: ((workspace: Workspace) => Promise<MergePrograms | undefined>) | undefined;
  /** The search index; only code that has one can answer. */
  search?: SearchService | undefined;
  /** The commands of Moldable's shell; only code that has the fronts can answer. */
  moldable?: ((command: string, args: Record<string, unknown>) => Promise<unknown>) | undefined;
  /** The long pieces of work that other processes do. */
  readonly work: BackgroundWork;
  stop(): void;
}

/** What answers questions about the content of files. */
export interface SearchService {
  find(
    workspace: Workspace,
    question: { readonly query: string; readonly k?: number; readonly at?: string },
  ): Promise<Json<typeof shapes.found>>;
  state(workspace: Workspace): Promise<Json<typeof shapes.searchIndex>>;
  sync(workspace: Workspace): Promise<Json<typeof shapes.synced>>;
  files(workspace: Workspace): Promise<Json<typeof shapes.indexedFiles>>;
  index(
    workspace: Workspace,
    wanted: { readonly paths: readonly string[]; readonly content?: string; readonly known?: boolean },
  ): Promise<Json<typeof shapes.indexing>>;
  /** How many were in it. */
  remove(workspace: Workspace, paths: readonly string[]): Promise<number>;
}

/** Where a conversation is to end. */
export interface ForkRequest {
  readonly target: Checkpoint;
  /** The thread to fork; null = the checkpoint's own. */
  readonly thread: ThreadId | null;
}

/** What to tell about the conversation that was made. */
export interface ForkedConversation {
  readonly advice?: string;
  readonly resume?: string;
  readonly warning?: string;
}

/** Runs a request for a thread when all earlier work on its workspace is done. */
export async function inThread<Result>(
  { host }: Served,
  id: string,
  work: (workspace: Workspace, thread: ThreadId, hosted: HostedWorkspace) => Promise<Result>,
): Promise<Result> {
  const hosted = await host.findThread(id);
  return hosted.inTurn(async () => work(hosted.workspace, await threadOf(hosted.workspace, id), hosted));
}

/** A thread by its own id, or by the id that its agent has for it. */
export async function threadOf({ threads }: Workspace, id: string): Promise<ThreadId> {
  return (await threads.get(id)).id;
}

/** Runs work on the workspace that a request names. */
export async function inWorkspace<Result>(
  { host }: Served,
  ref: string | undefined,
  work: (workspace: Workspace, hosted: HostedWorkspace) => Promise<Result>,
): Promise<Result> {
  const hosted = await host.find(ref);
  return hosted.inTurn(() => work(hosted.workspace, hosted));
}

/** [R100] The root of a workspace in which programs may be started over HTTP; throws `PROGRAMS_REFUSED` elsewhere. */
export async function startable({ host }: Served, ref: string | undefined): Promise<string> {
  const { workspace } = await host.find(ref);
  if (readProgramSettings(host.home, workspace.id).runs.http) return workspace.root;
  throw new ContractError(
    "PROGRAMS_REFUSED",
    "Programs are not started over HTTP here. Nothing was started.",
  );
}

/** A checkpoint of exactly this thread: another thread's is not found, even by its id. */
export async function checkpointOf(workspace: Workspace, thread: ThreadId, ref: string): Promise<Checkpoint> {
  const checkpoint = await workspace.resolve(ref);
  if (checkpoint.thread === thread || checkpoint.thread === null) return checkpoint;
  throw new ContractError("CHECKPOINT_NOT_FOUND", `There is no checkpoint ${ref} in this thread.`, {
    facts: { checkpoint: ref },
  });
}

/** The same, in its turn among the work on the workspace. */
export function checkpointIn(hosted: HostedWorkspace, thread: string, ref: string): Promise<Checkpoint> {
  return hosted.inTurn(() => checkpointOf(hosted.workspace, thread as ThreadId, ref));
}

/** Conflicts are an error answer: the plan was not carried out, because of these paths. */
export function assertApplied(outcome: Outcome, report: object): void {
  if (outcome.outcome !== "conflicts") return;
  const message = `Some files changed differently meanwhile. ${untouchedText(outcome)}`;
  throw new ContractError("CONFLICTS", message, { facts: { report } });
}

/** Options without those that a request left out or left empty. */
export function defined<Options extends object>(options: Options) {
  return Object.fromEntries(
    Object.entries(options).filter(([, value]) => value !== undefined && value !== ""),
  ) as {
    [Key in keyof Options]: Exclude<Options[Key], undefined>;
  };
}
