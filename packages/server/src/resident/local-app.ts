/**
 * The application without the process: for a program that shows a workspace while no resident process is there. It
 * listens nowhere and watches no files; what it answers is read from the store and the disk.
 */
import type { Workspace } from "@belay/engine";
import { BackgroundWork, type RunCommand } from "../hosting/background-work.ts";
import type { Log } from "../hosting/log.ts";
import { WorkspaceHost } from "../hosting/workspace-host.ts";
import { PageBook } from "../http/page-book.ts";
import type { Served } from "../routes/served.ts";
import { createApp } from "./create-app.ts";

/** How the application runs. */
export interface LocalAppOptions {
  readonly home: string;
  readonly version: string;
  readonly clock?: () => number;
  /** Runs a command in another process. */
  readonly command: RunCommand;
  /** Called for each workspace that is opened. */
  readonly opened?: (workspace: Workspace) => void;
  /** Makes a conversation of an agent that ends at a checkpoint. */
  readonly fork?: Served["fork"];
  /** What knows the languages of files. */
  readonly syntax?: Served["syntax"];
  readonly mergePrograms?: Served["mergePrograms"];
}

/** Answers requests in this process. */
export interface LocalApp extends AsyncDisposable {
  fetch(request: Request): Promise<Response>;
}

const QUIET: Log = { info: () => {}, error: () => {} };

/** The application over the stores of a home. */
export function createLocalApp({ clock = Date.now, ...options }: LocalAppOptions): LocalApp {
  const ending = new AbortController();
  const host = new WorkspaceHost({ ...options, log: QUIET, clock, watch: false });
  const app = createApp(
    {
      host,
      version: options.version,
      pages: new PageBook(clock),
      ending: ending.signal,
      listeners: new Set(),
      facts: () => undefined,
      fork: options.fork,
      syntax: options.syntax,
      mergePrograms: options.mergePrograms,
      work: new BackgroundWork(options.command, clock),
      stop: () => ending.abort(),
    },
    QUIET,
  );
  return {
    fetch: async (request) => app.fetch(request),
    async [Symbol.asyncDispose]() {
      ending.abort();
      await host.close();
    },
  };
}
