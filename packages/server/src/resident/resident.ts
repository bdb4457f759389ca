/**
 * The resident process: one per user, many workspaces. It may die at any moment, and the next process that
 * needs it starts it again; everything it has acknowledged is in the stores.
 */
import { randomBytes } from "node:crypto";
import type { Workspace } from "@belay/engine";
import { getRequestListener } from "@hono/node-server";
import { createApp, type Extension } from "./create-app.ts";
import { listenOnLoopback, listenOnSocket, type Listener, type Listening } from "../http/listen.ts";
import type { Secrets } from "../http/guard.ts";
import { PageBook } from "../http/page-book.ts";
import { withPage } from "../http/serve-page.ts";
import { withHooks, type HookService } from "../http/serve-hooks.ts";
import type { ForkedConversation, ForkRequest, SearchService, Served } from "../routes/served.ts";
import { BackgroundWork, type RunCommand } from "../hosting/background-work.ts";
import { WorkspaceHost } from "../hosting/workspace-host.ts";
import { ExclusiveLock } from "./exclusive-lock.ts";
import { createFileLog, type Log } from "../hosting/log.ts";
import { RunDirectory, type ResidentFacts } from "./run-directory.ts";

/** How the resident process runs. */
export interface ResidentOptions {
  readonly home: string;
  readonly version: string;
  /** Tried in this order; 0 picks a free one. */
  readonly ports: readonly number[];
  /** Where the built page is; left out, only the API is served. */
  readonly page?: string;
  /** The workspace for requests that name none. */
  readonly directory?: string;
  /** True when it runs in the foreground: it does not end by itself. */
  readonly foreground: boolean;
  readonly extend?: Extension;
  /** Carries out the events of agents' hooks. */
  readonly hooks?: (host: WorkspaceHost) => HookService;
  /** Called for each workspace that is opened. */
  readonly opened?: (workspace: Workspace) => void;
  /** Whether a workspace is captured automatically, for its status. */
  readonly capture?: (workspace: Workspace) => Promise<object>;
  /** Makes a conversation of an agent that ends at a checkpoint. */
  readonly fork?: (workspace: Workspace, request: ForkRequest) => Promise<ForkedConversation>;
  /** What knows the languages of files, for merges. */
  readonly syntax?: Served["syntax"];
  readonly mergePrograms?: Served["mergePrograms"];
  /** Searches in the files of a workspace. */
  readonly search?: SearchService;
  /** Answers the commands of Moldable's shell. */
  readonly moldable?: Served["moldable"];
  /** Runs a command in another process. */
  readonly command: RunCommand;
  readonly idleMs?: number;
}

/** The running process. */
export interface Resident {
  readonly facts: ResidentFacts;
  /** Resolves when the process was told to end or was idle for long, and everything is closed. */
  readonly ended: Promise<void>;
  stop(): void;
}

const IDLE_MS = 30 * 60 * 1000;
const HOUSEKEEPING_MS = 60 * 1000;
/** A command that checks whether the lock is held has it for a moment. */
const LOCK_MS = 250;

/** Undefined when another process is running already. */
export async function startResident(options: ResidentOptions): Promise<Resident | undefined> {
  const run = new RunDirectory(options.home);
  run.create();
  const lock = ExclusiveLock.take(run.lock, LOCK_MS);
  if (lock === undefined) return undefined;
  const clock = Date.now;
  const log = createFileLog(run.log, clock);
  const ending = new AbortController();
  const host = new WorkspaceHost({ ...options, log, clock });
  const listeners = new Set<symbol>();
  const pages = new PageBook(clock);
  const token = randomBytes(32).toString("base64url");
  let usedAt = clock();
  let facts: ResidentFacts | undefined;
  const served: Served = {
    host,
    version: options.version,
    pages,
    ending: ending.signal,
    listeners,
    facts: () => facts!,
    capture: options.capture,
    fork: options.fork,
    syntax: options.syntax,
    mergePrograms: options.mergePrograms,
    search: options.search,
    moldable: options.moldable,
    work: new BackgroundWork(options.command, clock),
    stop: () => setTimeout(() => ending.abort(), ANSWER_FIRST_MS),
  };
  const serve = createListener(served, log, options);
  const listener: Listener = (request, response) => {
    usedAt = clock();
    serve(request, response);
  };
  // the process that held the lock before is gone: so is its socket
  run.clear();
  run.noteStart(clock());
  const socket = await listenOnSocket(run.socket, listener);
  const network = await listenOnFirst(options.ports, { token, pages }, listener);
  facts = { ...startFacts(options, network.port, clock()), token };
  run.write(facts, network.port);
  log.info("started", { pid: process.pid, url: facts.url, version: options.version });
  const isOurs = () => run.read()?.pid === process.pid && run.hasPrivateSocket;
  const idleMs = options.idleMs ?? IDLE_MS;
  const housekeeping = setInterval(
    () => {
      void host.release();
      // its home was deleted or replaced: no client can find this process
      if (!isOurs()) ending.abort();
      if (!options.foreground && listeners.size === 0 && clock() - usedAt > idleMs) ending.abort();
    },
    Math.min(HOUSEKEEPING_MS, idleMs),
  );
  const { promise: ended, resolve } = Promise.withResolvers<void>();
  ending.signal.addEventListener("abort", () => {
    void (async () => {
      clearInterval(housekeeping);
      await Promise.all([socket.close(), network.close()]);
      await host.close();
      if (isOurs()) run.clear();
      run.noteEnd();
      log.info("ended", { pid: process.pid });
      lock[Symbol.dispose]();
      resolve();
    })();
  });
  return { facts, ended, stop: () => ending.abort() };
}

function startFacts({ version, foreground }: ResidentOptions, port: number, at: number) {
  const startedAt = new Date(at).toISOString();
  return { pid: process.pid, version, url: `http://127.0.0.1:${port}`, startedAt, foreground };
}

/** Hook events come first, because an agent waits for each; the application serves everything else. */
function createListener(
  served: Served,
  log: Log,
  { extend, hooks, page }: Pick<ResidentOptions, "extend" | "hooks" | "page">,
): Listener {
  const handle = getRequestListener(createApp(served, log, extend).fetch);
  const app: Listener = (request, response) => void handle(request, response);
  const shown = withPage(page, app);
  return hooks === undefined ? shown : withHooks(hooks(served.host), shown);
}

/** A port that is in use is left to its owner; the next one is tried. */
async function listenOnFirst(
  [port = 0, ...others]: readonly number[],
  secrets: Secrets,
  listener: Listener,
): Promise<Listening> {
  try {
    return await listenOnLoopback(port, secrets, listener);
  } catch (error) {
    if (others.length === 0) throw error;
    return listenOnFirst(others, secrets, listener);
  }
}

/** Time for the answer to the request that ends the process. */
const ANSWER_FIRST_MS = 50;
