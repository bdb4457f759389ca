/** The open workspaces of the resident process: opened on the first request, watched, closed when idle. */
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import {
  findWorkspace,
  PlanBook,
  protectedCopies,
  protectedRoots,
  type Watching,
  type Workspace,
} from "@belay/engine";
import { HostedWorkspace } from "./hosted-workspace.ts";
import type { Log } from "./log.ts";
import { ContractError } from "@belay/protocol/errors";

/** How workspaces are hosted. */
export interface HostOptions {
  readonly home: string;
  /** Used when a request names no workspace. */
  readonly directory?: string | undefined;
  readonly log: Log;
  readonly clock: () => number;
  /** False: workspaces are opened and not watched. */
  readonly watch?: boolean | undefined;
  /** How many working copies are watched at once: these in any case, and more while all together have so few files. */
  readonly mostWatched?: { readonly copies: number; readonly files: number } | undefined;
  /** Called for each workspace that is opened. */
  readonly opened?: ((workspace: Workspace) => void) | undefined;
}

const IDLE_MS = 10 * 60 * 1000;

/** A watched tree of 50,000 files takes some 190 MB. */
const MOST_WATCHED = { copies: 4, files: 200_000 };
/** A working copy that was not used for so long makes room for another to be watched. */
const UNUSED_MS = 60 * 1000;

/** How often to look for tools and loops of fixes that ended without an event. */
const CUT_OFF_MS = 2000;

/** The open workspaces of the resident process. */
export class WorkspaceHost {
  readonly #options: HostOptions;
  /** By the id of the working copy; that of a root is the workspace's. */
  readonly #open = new Map<string, Promise<HostedWorkspace>>();
  /** Where each of them was when it was opened. */
  readonly #roots = new Map<string, string>();
  /** Those that are watched, with the number of their files. */
  readonly #watched = new Map<string, number>();
  readonly #threads = new Map<string, string>();
  readonly #reconciling = new Set<string>();
  readonly #paths = new Map<string, string>();
  /** One for all: a workspace that was let go and opened again still knows its plans. */
  readonly #plans = new PlanBook({ elapsed: () => performance.now() });
  readonly #looking: NodeJS.Timeout;
  #registryState = "";

  constructor(options: HostOptions) {
    this.#options = options;
    this.#looking = setInterval(() => void this.#noticeCutOff(), CUT_OFF_MS).unref();
  }

  get home(): string {
    return this.#options.home;
  }

  /** A workspace by id or by a path in it; without either, the one the server was started in. */
  async find(ref: string | undefined): Promise<HostedWorkspace> {
    const wanted = ref ?? this.#options.directory;
    if (wanted === undefined)
      throw new ContractError("WORKSPACE_REQUIRED", "The request must name a workspace.");
    await this.#followRegistry();
    const known = this.#open.get(this.#paths.get(wanted) ?? wanted);
    if (known !== undefined) return this.#touch(await known);
    const path = wanted.includes("/") ? wanted : await this.#pathOf(wanted);
    const hosted = await this.#openAt(path);
    this.#paths.set(wanted, hosted.workspace.copyId);
    return this.#touch(hosted);
  }

  /**
   * The workspace of a directory, if it is open within `patienceMs`. Otherwise it is opened in the background and the
   * caller continues alone: opening a big workspace takes longer than most commands.
   */
  async findOpen(
    directory: string,
    { patienceMs }: { readonly patienceMs: number },
  ): Promise<HostedWorkspace | undefined> {
    await this.#followRegistry();
    const known = this.#open.get(this.#paths.get(directory) ?? "");
    const hosted = await Promise.race([known, Promise.resolve(undefined)]);
    if (hosted !== undefined) return this.#touch(hosted);
    const opening = this.find(directory).catch(() => undefined);
    return patienceMs === 0
      ? undefined
      : await Promise.race([opening, pause(patienceMs, undefined, { ref: false })]);
  }

  /** Opens the workspace of a directory for requests to come. */
  openSoon(directory: string): void {
    this.find(directory).catch(() => undefined);
  }

  /**
   * After a directory was protected, attached or uninstalled: drops what is known about paths, and workspaces
   * open under another root.
   */
  async #followRegistry(): Promise<void> {
    const state = registryState(this.home);
    if (state === this.#registryState) return;
    this.#registryState = state;
    this.#paths.clear();
    if (this.#open.size === 0) return;
    const roots = new Map<string, string>(
      protectedCopies({ home: this.home }).map(({ copyId, path }) => [copyId, path]),
    );
    for (const [id, opening] of this.#open) {
      if (this.#roots.get(id) === roots.get(id)) continue;
      this.#forget(id);
      this.#options.log.info("workspace no longer protected there", { workspace: id });
      const hosted = await opening.catch(() => undefined);
      await hosted?.inTurn(() => hosted.workspace.close());
    }
  }

  /** The workspace that has a thread. */
  async findThread(thread: string): Promise<HostedWorkspace> {
    const known = this.#threads.get(thread);
    if (known !== undefined) return this.find(known);
    const unreadable: string[] = [];
    for (const id of await this.#candidates()) {
      try {
        const hosted = await this.find(id);
        if (!(await hasThread(hosted.workspace, thread))) continue;
        this.#threads.set(thread, id);
        return hosted;
      } catch (error) {
        this.#options.log.error("workspace not readable", { workspace: id, error: String(error) });
        unreadable.push(id);
      }
    }
    // the thread may be in a store that cannot be read: that must not be reported as "there is none"
    const doubt = unreadable.length === 0 ? "" : ` that can be read; ${unreadable.join(", ")} cannot be`;
    throw new ContractError(
      "THREAD_NOT_FOUND",
      `There is no thread ${thread}${doubt}. Nothing was changed.`,
      {
        facts: { thread, unreadable },
      },
    );
  }

  async all(): Promise<{ id: string; path: string; open: boolean; watching: Watching | null }[]> {
    const listed = protectedRoots({ home: this.home });
    const watching = async (id: string) => (await this.#open.get(id))?.workspace.watching ?? null;
    return Promise.all(
      listed.map(async ({ id, path }) => ({
        id,
        path,
        open: this.#open.has(id),
        watching: await watching(id),
      })),
    );
  }

  /** Looks for changes that no watcher reported, when nothing else is going on. */
  reconcileLater(hosted: HostedWorkspace): void {
    const { copyId: id } = hosted.workspace;
    if (hosted.workspace.watching.state !== "live" || this.#reconciling.has(id)) return;
    this.#reconciling.add(id);
    setTimeout(() => {
      hosted
        .inTurn(() => hosted.workspace.reconcile())
        .catch((error: unknown) =>
          this.#options.log.error("reconcile failed", { workspace: id, error: String(error) }),
        )
        .finally(() => this.#reconciling.delete(id));
    }, RECONCILE_MS).unref();
  }

  /** [R128] [R1750] Looks for tools and loops of fixes that ended without an event, where nothing else is going on. */
  async #noticeCutOff(): Promise<void> {
    for (const [id, opening] of this.#open) {
      const hosted = await opening.catch(() => undefined);
      if (hosted === undefined || hosted.isBusy) continue;
      await hosted
        .inTurn(async () => {
          await hosted.workspace.turns.noticeCutOff();
          await hosted.workspace.fixes.noticeKilled();
        })
        .catch((error: unknown) =>
          this.#options.log.error("what was cut off is not recorded", {
            workspace: id,
            error: String(error),
          }),
        );
    }
  }

  /** Closes workspaces that were not used for a while, and watches others where there is room now. */
  async release(): Promise<void> {
    const now = this.#options.clock();
    for (const [id, opening] of this.#open) {
      const hosted = await opening.catch(() => undefined);
      if (hosted !== undefined && (hosted.isBusy || now - hosted.usedAt < IDLE_MS)) continue;
      this.#forget(id);
      await hosted?.workspace.close();
      this.#options.log.info("workspace released", { workspace: id });
    }
    if (this.#options.watch === false) return;
    for (const [id, opening] of this.#open) {
      const hosted = this.#watched.has(id) ? undefined : await opening.catch(() => undefined);
      if (hosted === undefined || !(await this.#mayWatch(hosted.workspace))) continue;
      await hosted
        .inTurn(() => hosted.workspace.watch())
        .catch((error: unknown) => {
          this.#watched.delete(id);
          this.#options.log.error("workspace not watched", { workspace: id, error: String(error) });
        });
    }
  }

  #forget(id: string): void {
    this.#open.delete(id);
    this.#watched.delete(id);
  }

  /** [R1455] Whether there is room to watch one more; the one that was not used for longest may make it. */
  async #mayWatch(workspace: Workspace): Promise<boolean> {
    const { copies, files: most } = this.#options.mostWatched ?? MOST_WATCHED;
    const files = (await workspace.list({ limit: 1 }))[0]?.files ?? 0;
    const isRoom = () =>
      this.#watched.size < copies || [...this.#watched.values()].reduce((a, b) => a + b, files) <= most;
    while (!isRoom()) if (!(await this.#makeRoom())) return false;
    this.#watched.set(workspace.copyId, files);
    return true;
  }

  /** Closes the watched working copy that was not used for longest; false where all are in use. */
  async #makeRoom(): Promise<boolean> {
    // one that is still being opened is in use
    const watched = await Promise.all(
      [...this.#watched.keys()].map((id) => Promise.race([this.#open.get(id), Promise.resolve(undefined)])),
    );
    // judged and taken out at once: a request that comes later opens it again
    const [oldest] = watched
      .filter((hosted) => hosted !== undefined)
      .filter(({ isBusy, usedAt }) => !isBusy && this.#options.clock() - usedAt >= UNUSED_MS)
      .toSorted((a, b) => a.usedAt - b.usedAt);
    if (oldest === undefined) return false;
    this.#forget(oldest.workspace.copyId);
    await oldest.workspace.close();
    return true;
  }

  async close(): Promise<void> {
    clearInterval(this.#looking);
    const open = [...this.#open.values()];
    this.#open.clear();
    this.#watched.clear();
    for (const opening of open) {
      const hosted = await opening.catch(() => undefined);
      await hosted?.inTurn(() => hosted.workspace.close());
    }
  }

  async #openAt(path: string): Promise<HostedWorkspace> {
    const workspace = await findWorkspace(path, { home: this.home, plans: this.#plans });
    const { copyId } = workspace;
    const already = this.#open.get(copyId);
    if (already !== undefined) {
      await workspace.close();
      return already;
    }
    const opening = this.#watch(workspace);
    this.#open.set(copyId, opening);
    this.#roots.set(copyId, workspace.root);
    opening.catch(() => this.#forget(copyId));
    return opening;
  }

  async #watch(workspace: Workspace): Promise<HostedWorkspace> {
    this.#options.opened?.(workspace);
    if (this.#options.watch === false || !(await this.#mayWatch(workspace)))
      return new HostedWorkspace(workspace, this.#options.clock());
    const watching = await workspace.watch().catch(async (error: unknown) => {
      await workspace.close();
      throw error;
    });
    this.#options.log.info("workspace opened", {
      workspace: workspace.id,
      path: workspace.root,
      ...watching,
    });
    return new HostedWorkspace(workspace, this.#options.clock());
  }

  #touch(hosted: HostedWorkspace): HostedWorkspace {
    hosted.usedAt = this.#options.clock();
    return hosted;
  }

  async #pathOf(id: string): Promise<string> {
    const found = (await this.all()).find((each) => each.id === id);
    if (found === undefined)
      throw new ContractError("WORKSPACE_NOT_FOUND", `There is no workspace ${id}. Nothing was changed.`, {
        facts: { workspace: id },
      });
    return found.path;
  }

  /** Open workspaces come first. */
  async #candidates(): Promise<string[]> {
    const ids = protectedRoots({ home: this.home })
      .filter(({ path }) => existsSync(path))
      .map(({ id }) => id);
    return [...new Set([...this.#open.keys(), ...ids])];
  }
}

function registryState(home: string): string {
  return ["registry.db", "registry.db-wal"]
    .map((name) => statSync(join(home, name), { throwIfNoEntry: false, bigint: true }))
    .map((stat) => `${stat?.mtimeNs} ${stat?.size}`)
    .join(" ");
}

/** After a turn; long enough for the agent's next prompt to come first. */
const RECONCILE_MS = 2000;

async function hasThread(workspace: Workspace, thread: string): Promise<boolean> {
  try {
    const { id, externalId } = await workspace.threads.get(thread);
    return id === thread || externalId === thread;
  } catch (error) {
    if (["THREAD_NOT_FOUND", "THREAD_AMBIGUOUS"].includes((error as { code?: string }).code ?? ""))
      return false;
    throw error;
  }
}
