/** What can be asked of an index, and what it answers. */
import type { Checkpoint, CheckpointRef, Diff, DiffOptions, ExportedFile } from "@belay/engine";
import type { Embedder } from "./embedder.ts";

/** What an index needs of a workspace, be it one that answers later or at once. */
export interface IndexedWorkspace {
  readonly root: string;
  readonly store: string;
  resolve(ref: CheckpointRef): Checkpoint | Promise<Checkpoint>;
  diff(options: DiffOptions): Diff | Promise<Diff>;
  files(ref: CheckpointRef): Iterable<ExportedFile> | AsyncIterable<ExportedFile>;
}

/** `touched`: files that agents read or wrote. `all`: every text file of at most 1 MiB. */
export type IndexScope = "touched" | "all";

/** How an index is opened. */
export interface IndexOptions {
  /** Defaults to the local one. */
  readonly embedder?: Embedder;
  /** Defaults to what it was last opened with; `all` the first time. */
  readonly scope?: IndexScope;
  /** It never grows much beyond this: contents that were not used for longest go first. */
  readonly capBytes?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** A piece of a file that answers a question. */
export interface Hit {
  readonly path: string;
  readonly startLine: number;
  readonly endLine: number;
  readonly text: string;
  readonly score: number;
  /** SHA-256 of the file. */
  readonly hash: string;
  /** Null for the file on disk. */
  readonly checkpoint: string | null;
}

/** What a search is limited to. */
export interface SearchOptions {
  /** How many hits; defaults to 10. */
  readonly k?: number;
  /** A checkpoint to search instead of the disk. */
  readonly at?: CheckpointRef;
  /** Files and directories. */
  readonly paths?: readonly string[];
  readonly mode?: "hybrid" | "text" | "vector";
}

/** The hits, best first. */
export interface SearchResult {
  readonly hits: readonly Hit[];
  /** Files of the checkpoint whose content was never indexed. */
  readonly notIndexed: number;
  readonly embedder: string;
}

/** How a sync is done. */
export interface SyncOptions {
  /** The newest checkpoint was taken a moment ago, so it has what is on disk. */
  readonly captured?: boolean;
  /** How long to wait for the vectors of an endpoint; the rest are made in the background. By default, until all are there. */
  readonly vectorsWithinMs?: number;
}

/** What a sync found. */
export interface Synced {
  readonly checked: number;
  readonly reindexed: number;
  readonly removed: number;
  /** Files that are not text, too large, or have a name that is not UTF-8. */
  readonly skipped: number;
}

/** A file of the index. */
export interface IndexedFile {
  readonly path: string;
  readonly hash: string;
  readonly indexedAt: number;
}

/** The index of one workspace. Paths are relative to its root. */
export interface RetrievalIndex extends AsyncDisposable {
  readonly scope: IndexScope;
  readonly embedder: string;
  /** How much disk it takes. */
  readonly bytes: number;
  /** Indexes a file as it is on disk, or with this content. */
  indexFile(path: string, content?: string): Promise<{ chunks: number; unchanged: boolean }>;
  /** Takes a file out; false when it was not in. */
  removeFile(path: string): Promise<boolean>;
  /** Looks at these files again: of `touched`, only those that are in the index. Returns how many changed in it. */
  reindexFiles(paths: readonly string[]): Promise<number>;
  /**
   * Compares the index with the newest checkpoint, and that with the disk unless `captured` says that it was taken just
   * now. Only contents that are new are read.
   */
  sync(options?: SyncOptions): Promise<Synced>;
  /** Waits until everything that was begun in the background is done. */
  idle(): Promise<void>;
  /** Does something in the background, after what was begun before. A failure is left for the next sync to make good. */
  later(work: () => Promise<unknown>): void;
  files(): IndexedFile[];
  /** Throws the index away and makes it again. */
  rebuild(): Promise<Synced>;
  search(query: string, options?: SearchOptions): Promise<SearchResult>;
}
