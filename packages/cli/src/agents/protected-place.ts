/**
 * The workspace of a directory, for a process that stays. It is opened when first needed, and again when the directory was
 * protected, uninstalled or attached elsewhere meanwhile. Its plans are in the plan book of its caller.
 */
import { realpathSync } from "node:fs";
import type { PlanBook, Workspace } from "@belay/engine";
import { innermostRoot } from "../call/innermost-root.ts";
import { connectToAgents } from "./connect-to-agents.ts";

/** The workspace of one directory, opened on demand. */
export class ProtectedPlace implements AsyncDisposable {
  readonly #home: string;
  readonly #directory: string;
  readonly #plans: PlanBook;
  #opened: Workspace | undefined;

  constructor(home: string, directory: string, plans: PlanBook) {
    this.#home = home;
    this.#directory = directory;
    this.#plans = plans;
  }

  /** Runs work on the workspace. Throws `WORKSPACE_NOT_FOUND` while the directory is not protected. */
  async with<Result>(work: (workspace: Workspace) => Promise<Result>): Promise<Result> {
    const workspace = await this.#workspace();
    try {
      return await work(workspace);
    } finally {
      // [R162] on a full disk, an open store keeps every other process out
      if (workspace.isAlone) await this[Symbol.asyncDispose]();
    }
  }

  async #workspace(): Promise<Workspace> {
    const { findWorkspace, protectedRoots } = await import("@belay/engine");
    const roots = protectedRoots({ home: this.#home });
    const nearest = innermostRoot(
      roots.map(({ path }) => path),
      realpathSync(this.#directory),
    );
    const isSame = roots.some(({ id, path }) => path === nearest && id === this.#opened?.id);
    if (this.#opened !== undefined && isSame && this.#opened.root === nearest) return this.#opened;
    await this[Symbol.asyncDispose]();
    this.#opened = await findWorkspace(this.#directory, { home: this.#home, plans: this.#plans });
    connectToAgents(this.#home, this.#opened);
    return this.#opened;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    await opened?.close();
  }
}
