/** The versions of a workspace in this process. */
import { addAlias } from "../history/aliases.ts";
import { findBranch } from "../history/branches.ts";
import { resolveState } from "../history/references.ts";
import { deleteVersions, headVersion, insertVersion, listVersions } from "../history/versions.ts";
import type { Version, VersionRequest } from "../model/version.ts";
import type { Versions } from "./interface/versions.ts";
import type { Runner } from "./runner.ts";

/** Each method of `Versions`, in terms of the layers below. */
export class LocalVersions implements Versions {
  readonly #runner: Runner;

  constructor(runner: Runner) {
    this.#runner = runner;
  }

  async create({ checkpoint: ref, ...request }: VersionRequest): Promise<Version> {
    const { context, db } = this.#runner;
    const checkpoint = resolveState(context, ref);
    return db.transaction(() => {
      const version = insertVersion(db, checkpoint, { ...request, now: context.system.now() });
      addAlias(db, checkpoint, { origin: "version", name: version.id });
      this.#runner.log("annotate", { checkpoint: checkpoint.id, version: version.id });
      return version;
    });
  }

  async list(): Promise<Version[]> {
    return listVersions(this.#runner.db);
  }

  async head(branch: string): Promise<Version | null> {
    const { db } = this.#runner;
    return headVersion(db, findBranch(db, branch).id) ?? null;
  }

  async remove(ids: readonly string[]): Promise<void> {
    const { db } = this.#runner;
    db.transaction(() => {
      deleteVersions(db, ids);
      this.#runner.log("annotate", { versionsRemoved: ids });
    });
  }
}
