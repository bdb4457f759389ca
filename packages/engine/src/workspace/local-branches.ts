/** The branches of a workspace in this process. */
import { createBranch, deleteBranch, renameBranch, restoreBranch } from "../branch/change-branches.ts";
import { findBranch, listBranches } from "../history/branches.ts";
import type { Branch, BranchRequest, SwitchOptions } from "../model/branch.ts";
import type { Branches } from "./interface/branches.ts";
import type { Runner } from "./runner.ts";
import type { WayRequest } from "./way-request.ts";

/** Each method of `Branches` that needs no plan, in terms of the layers below. */
export class LocalBranches implements Omit<Branches, "planSwitch"> {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async branches(options: { deleted?: boolean } = {}): Promise<Branch[]> {
    return listBranches(this.#runner.db, options);
  }

  async createBranch(name: string, request: BranchRequest = {}): Promise<Branch> {
    const { context } = this.#runner;
    return this.#runner.run(() => createBranch(context, name, request));
  }

  async renameBranch(name: string, next: string): Promise<Branch> {
    return this.#changed(renameBranch(this.#runner.context, name, next));
  }

  async deleteBranch(name: string): Promise<Branch> {
    return this.#changed(deleteBranch(this.#runner.context, name));
  }

  async restoreBranch(name: string): Promise<Branch> {
    return this.#changed(restoreBranch(this.#runner.context, name));
  }

  /** What going to a branch asks for. */
  switchRequest(name: string, { keepFiles = false, whileWorking = false }: SwitchOptions): WayRequest {
    const { id } = findBranch(this.#runner.db, name);
    return { way: "switch", request: { to: id, name, keepFiles, whileWorking } };
  }

  #changed(branch: Branch): Branch {
    this.#runner.events.wake();
    return branch;
  }
}
