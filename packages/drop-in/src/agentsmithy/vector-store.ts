/** AgentSmithy's search over the files that its agents touched: Belay's index under the old names. */
import { displayPath } from "@belay/engine";
import type { SyncWorkspace } from "@belay/engine/sync";
import { openIndexSync, type RetrievalIndex } from "@belay/retrieval";
import type { Root } from "../frame/root.ts";
import { rootOf, type Project } from "./project.ts";

/** A piece of a file that answers a question. */
export interface FoundDocument {
  page_content: string;
  /** `source` is relative to the project; `hash` is the SHA-256 of the file. */
  metadata: { source: string; hash: string };
}

/**
 * The search index of a project. Files are in it from when they were indexed; afterwards every way back keeps it in
 * step. What it answers is compared with the disk first.
 */
export class VectorStoreManager {
  readonly #root: Root;
  #opened: { workspace: SyncWorkspace; index: RetrievalIndex; stop(): void } | undefined;

  constructor(project: Project) {
    this.#root = rootOf(project);
  }

  /**
   * Indexes a file as it is on disk, or with this content; returns the names of its pieces. Pieces have 1000 characters
   * whatever `chunk_size` says: equal contents share theirs.
   */
  async index_file(file_path: string, content?: string | null, _chunk_size?: number): Promise<string[]> {
    const path = this.#inside(file_path);
    const { chunks } = await this.#index.indexFile(path, content ?? undefined);
    return Array.from({ length: chunks }, (_, at) => `${path}#${at}`);
  }

  /** Whether a file is in the index. */
  async has_file(file_path: string): Promise<boolean> {
    return this.#inside(file_path) in this.get_indexed_files();
  }

  /** Takes a file out. */
  delete_by_source(file_path: string): void {
    // done when it returns: nothing in it waits
    void this.#index.removeFile(this.#inside(file_path));
  }

  /** Indexes a file that is in the index again; one that is not stays out. */
  async reindex_file(file_path: string): Promise<string[]> {
    return (await this.has_file(file_path)) ? this.index_file(file_path) : [];
  }

  /** Looks at files again; returns how many of those in the index changed. */
  async reindex_files(file_paths: string[]): Promise<number> {
    return this.#index.reindexFiles(file_paths.map((path) => this.#inside(path)));
  }

  /** The files of the index, each with the hash of its content. */
  get_indexed_files(): Record<string, string> {
    return Object.fromEntries(this.#index.files().map(({ path, hash }) => [path, hash]));
  }

  /** Finds what changed without a tool, such as by hand, and what is gone. */
  async sync_files_if_needed(): Promise<{
    checked: number;
    reindexed: number;
    removed: number;
    skipped: number;
  }> {
    const { checked, reindexed, removed, skipped } = await this.#index.sync();
    return { checked, reindexed, removed, skipped };
  }

  /** The pieces that answer a question best. */
  async similarity_search(query: string, k = 4): Promise<FoundDocument[]> {
    await this.#index.idle();
    const { hits } = await this.#index.search(query, { k });
    return hits.map(({ text, path, hash }) => ({ page_content: text, metadata: { source: path, hash } }));
  }

  /** Closes the index; the next call opens it again. */
  async close(): Promise<void> {
    const opened = this.#opened;
    this.#opened = undefined;
    opened?.stop();
    await opened?.index[Symbol.asyncDispose]();
  }

  get #index(): RetrievalIndex {
    const { workspace } = this.#root;
    if (this.#opened?.workspace === workspace) return this.#opened.index;
    // the fronts were closed in between
    void this.close();
    const index = openIndexSync(workspace, { scope: "touched" });
    const stop = workspace.afterRestore((paths) => {
      const names = paths.map((path) => displayPath(path));
      index.later(() => index.reindexFiles(names));
    });
    this.#opened = { workspace, index, stop };
    return index;
  }

  #inside(path: string): string {
    return this.#root.insideAll([path])[0]!;
  }
}
