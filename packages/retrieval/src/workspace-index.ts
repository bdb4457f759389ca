/**
 * The index of a workspace. What it answers is on disk: each hit's file is compared with the index before it is
 * returned, and indexed first where it changed. Content that was indexed once is never read or embedded again.
 */
import { setTimeout } from "node:timers/promises";
import { isUtf8Path, displayPath, type CheckpointRef, type ExportedFile } from "@belay/engine";
import { chunksOf } from "./chunks.ts";
import { hashedEmbedder, type Embedder } from "./embedder.ts";
import { IndexStore } from "./index-store.ts";
import { IndexSearch, type Found } from "./index-search.ts";
import type {
  Hit,
  IndexedFile,
  IndexedWorkspace,
  IndexOptions,
  IndexScope,
  RetrievalIndex,
  SearchOptions,
  SearchResult,
  SyncOptions,
  Synced,
} from "./retrieval-index.ts";
import { contentHash, isPrivate, MOST_BYTES, readRegularFile, textOf } from "./text-file.ts";
import { toBytes } from "./vector-table.ts";
import { wordsOf } from "./words.ts";

const CAP_BYTES = 256 * 1024 * 1024;
/** A file may change between being found and being read: this often the search is repeated. */
const ROUNDS = 3;
/** This many documents are given vectors together. */
const EMBEDDED_TOGETHER = 64;
/** How much a content takes is only known afterwards. */
const TRIMS = 8;

/** The index of one workspace; implements `RetrievalIndex` over `index.db`. */
export class WorkspaceIndex implements RetrievalIndex {
  readonly #workspace: IndexedWorkspace;
  readonly #store: IndexStore;
  readonly #embedder: Embedder;
  readonly #search: IndexSearch;
  readonly #capBytes: number;
  readonly #now: () => number;
  #background: Promise<unknown> = Promise.resolve();
  /** Ends what waits for an endpoint. */
  readonly #closing = new AbortController();
  #embedding: Promise<void> | undefined;
  #isClosed = false;

  constructor(workspace: IndexedWorkspace, path: string, options: IndexOptions) {
    this.#workspace = workspace;
    this.#store = new IndexStore(path);
    this.#embedder = options.embedder ?? hashedEmbedder();
    this.#search = new IndexSearch(this.#store, this.#embedder);
    this.#capBytes = options.capBytes ?? CAP_BYTES;
    this.#now = options.now ?? Date.now;
    if (options.scope !== undefined && options.scope !== this.#store.meta("scope")) {
      this.#store.setMeta("scope", options.scope);
      this.#forgetSnapshot();
    }
  }

  get scope(): IndexScope {
    return this.#store.meta("scope") === "touched" ? "touched" : "all";
  }

  get embedder(): string {
    return this.#embedder.name;
  }

  get bytes(): number {
    return this.#store.bytes;
  }

  async indexFile(path: string, content?: string): Promise<{ chunks: number; unchanged: boolean }> {
    const bytes = content === undefined ? readRegularFile(this.#workspace.root, path) : Buffer.from(content);
    this.#forgetSnapshot();
    if (bytes !== undefined) return this.#put(path, bytes);
    await this.removeFile(path);
    return { chunks: 0, unchanged: false };
  }

  async removeFile(path: string): Promise<boolean> {
    this.#forgetSnapshot();
    return this.#store.transaction(() => this.#store.removeFile(path));
  }

  async reindexFiles(paths: readonly string[]): Promise<number> {
    const known = this.#hashes();
    let changed = 0;
    for (const path of paths) {
      const before = known.get(path);
      if (before === undefined && this.scope === "touched") continue;
      await this.indexFile(path);
      if (this.#hashOf(path) !== before) changed += 1;
    }
    return changed;
  }

  async sync({ captured = false, vectorsWithinMs }: SyncOptions = {}): Promise<Synced> {
    const newest = await this.#workspace.resolve("@");
    const onDisk = captured ? [] : await this.#changedOnDisk(newest.id);
    const isKnown = this.#store.meta("snapshot") === newest.snapshot;
    if (isKnown && onDisk.length === 0) return this.#nothingNew(newest.id, vectorsWithinMs);
    const known = this.#hashes();
    const report = isKnown
      ? { checked: known.size, reindexed: 0, removed: 0, skipped: Number(this.#store.meta("skipped") ?? 0) }
      : await this.#syncWith(newest.id, known, new Set(onDisk));
    if (!isKnown) this.#store.setMeta("skipped", String(report.skipped));
    this.#store.setMeta("snapshot", newest.snapshot);
    const later = await this.#indexAgain(onDisk, known);
    await this.#giveVectors(newest.id, vectorsWithinMs);
    this.#trim();
    return {
      ...report,
      reindexed: report.reindexed + later.reindexed,
      removed: report.removed + later.removed,
    };
  }

  /** The same tree as at the last sync: no hash is read. */
  async #nothingNew(checkpoint: string, vectorsWithinMs: number | undefined): Promise<Synced> {
    await this.#giveVectors(checkpoint, vectorsWithinMs);
    const checked = Number(this.#store.get("SELECT count(*) AS n FROM file")?.["n"] ?? 0);
    return { checked, reindexed: 0, removed: 0, skipped: Number(this.#store.meta("skipped") ?? 0) };
  }

  later(work: () => Promise<unknown>): void {
    const begin = () => (this.#isClosed ? undefined : work());
    // what failed is found by the next sync: the snapshot is not the one that was synced
    this.#background = this.#background.then(begin).catch(() => this.#forgetSnapshot());
  }

  async idle(): Promise<void> {
    await this.#background;
  }

  files(): IndexedFile[] {
    return this.#store
      .all(
        "SELECT path, lower(hex(hash)) AS hash, indexed_at FROM file JOIN document ON document.id = file.document WHERE is_text = 1 ORDER BY path",
      )
      .map((row) => ({
        path: String(row["path"]),
        hash: String(row["hash"]),
        indexedAt: Number(row["indexed_at"]),
      }));
  }

  async rebuild(): Promise<Synced> {
    const { scope } = this;
    const paths = this.files().map(({ path }) => path);
    this.#store.clear();
    this.#search.reset();
    this.#store.setMeta("scope", scope);
    for (const path of scope === "touched" ? paths : []) await this.indexFile(path);
    return this.sync();
  }

  async search(query: string, options: SearchOptions = {}): Promise<SearchResult> {
    if (options.at !== undefined) return this.#searchAt(query, options.at, options);
    for (let round = 1; ; round += 1) {
      const found = await this.#search.find(query, options, this.#paths());
      const { hits, changed } = this.#onDisk(found);
      if (changed.length === 0 || round === ROUNDS)
        return { hits: hits.slice(0, options.k ?? 10), notIndexed: 0, embedder: this.embedder };
      for (const path of changed) await this.indexFile(path);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.idle();
    this.#isClosed = true;
    this.#closing.abort();
    await this.#embedding?.catch(() => undefined);
    this.#store[Symbol.dispose]();
  }

  /** The hits with their text as it is on disk now, and the files that are not what was indexed. */
  #onDisk(found: readonly Found[]): { hits: Hit[]; changed: string[] } {
    const files = new Map<string, { hash: string; text: string } | undefined>();
    const [hits, changed]: [Hit[], Set<string>] = [[], new Set()];
    for (const hit of found) {
      if (!files.has(hit.path)) files.set(hit.path, readText(this.#workspace.root, hit.path));
      const file = files.get(hit.path);
      if (file?.hash !== hit.hash) changed.add(hit.path);
      else hits.push(toHit(hit, file.text, null));
    }
    return { hits, changed: [...changed] };
  }

  /** Any checkpoint, by the contents that it has; those that were never indexed are counted. */
  async #searchAt(query: string, at: CheckpointRef, options: SearchOptions): Promise<SearchResult> {
    const { id } = await this.#workspace.resolve(at);
    const documents = this.#documents();
    const [paths, contents]: [Map<number, string[]>, Map<string, ExportedFile>] = [new Map(), new Map()];
    let notIndexed = 0;
    for await (const file of this.#workspace.files(id)) {
      if (file.kind !== "file" || !isUtf8Path(file.path)) continue;
      const document = documents.get(file.hash);
      if (document === undefined) notIndexed += file.size <= MOST_BYTES ? 1 : 0;
      else append(paths, document, displayPath(file.path));
      contents.set(displayPath(file.path), file);
    }
    const found = await this.#search.find(query, options, paths);
    const hits = found.slice(0, options.k ?? 10).map((hit) => {
      const text = textOf(Buffer.concat([...contents.get(hit.path)!.content()])) ?? "";
      return toHit(hit, text, id);
    });
    return { hits, notIndexed, embedder: this.embedder };
  }

  /** Puts a content under a path; what it is made of is made only if the content is new. */
  async #put(path: string, bytes: Buffer): Promise<{ chunks: number; unchanged: boolean }> {
    const hash = contentHash(bytes);
    const known = this.#store.documentOf(hash);
    const unchanged = known !== undefined && this.#hashOf(path) === hash;
    const document = known?.id ?? (await this.#add(hash, bytes));
    if (!unchanged) {
      const facts = { words: wordsOf(path).join(" "), now: this.#now() };
      this.#store.transaction(() => this.#store.setFile(path, document, facts));
    }
    return { chunks: this.#chunkCount(document), unchanged };
  }

  async #add(hash: string, bytes: Buffer): Promise<number> {
    const text = textOf(bytes);
    const pieces = text === undefined ? undefined : chunksOf(text);
    const texts = pieces?.map(({ start, stop }) => text!.slice(start, stop)) ?? [];
    // what goes to an endpoint is decided by a sync, which knows what git ignores
    const vectors =
      this.#embedder.isRemote === true ? undefined : await this.#embedder.embed(texts, "document");
    const chunks = pieces?.map((piece, at) => ({
      ...piece,
      words: wordsOf(texts[at]!).join(" "),
      vector: vectors === undefined ? null : toBytes(vectors[at]!),
    }));
    const embedder = vectors === undefined ? null : this.embedder;
    const added = this.#store.transaction(() => {
      // another process may have added it meanwhile
      const there = this.#store.documentOf(hash);
      if (there !== undefined) return { id: there.id, chunks: [] };
      return this.#store.addDocument({ hash, bytes: bytes.length, chunks, embedder }, this.#now());
    });
    added.chunks.forEach((id, at) => {
      const vector = chunks?.[at]?.vector;
      if (vector) this.#search.add(id, added.id, vector);
    });
    return added.id;
  }

  /** Compares with a checkpoint all files but those that are others on disk. */
  async #syncWith(
    checkpoint: string,
    known: ReadonlyMap<string, string>,
    others: ReadonlySet<string>,
  ): Promise<Synced> {
    const isAll = this.scope === "all";
    const left = new Set(known.keys()).difference(others);
    const documents = this.#documents();
    let [reindexed, skipped] = [0, 0];
    for await (const file of this.#workspace.files(checkpoint)) {
      const path = displayPath(file.path);
      if (file.kind !== "file" || !isUtf8Path(file.path) || file.size > MOST_BYTES) {
        if (file.kind === "file") skipped += 1;
        continue;
      }
      const before = known.get(path);
      if ((before === undefined && !isAll) || others.has(path)) continue;
      left.delete(path);
      if (before === file.hash) continue;
      const document = documents.get(file.hash);
      if (document === undefined) await this.#put(path, Buffer.concat([...file.content()]));
      else
        this.#store.transaction(() =>
          this.#store.setFile(path, document, { words: wordsOf(path).join(" "), now: this.#now() }),
        );
      // what is no text is noted, so that it is not read again, and is in `skipped`
      if (this.#isText(path)) reindexed += 1;
    }
    for (const path of left) this.#store.transaction(() => this.#store.removeFile(path));
    const noText = Number(
      this.#store.get(
        "SELECT count(*) AS n FROM file JOIN document ON document.id = file.document WHERE is_text = 0",
      )?.["n"] ?? 0,
    );
    return { checked: known.size, reindexed, removed: left.size, skipped: skipped + noText };
  }

  /** What changed on disk since the newest checkpoint. */
  async #changedOnDisk(checkpoint: string): Promise<string[]> {
    const { files } = await this.#workspace.diff({ from: checkpoint, detail: "names" });
    return files
      .flatMap(({ path, from }) => (from === undefined ? [path] : [path, from]))
      .filter(isUtf8Path)
      .map(displayPath);
  }

  async #indexAgain(
    paths: readonly string[],
    before: ReadonlyMap<string, string>,
  ): Promise<{ reindexed: number; removed: number }> {
    if (paths.length === 0) return { reindexed: 0, removed: 0 };
    const changed = await this.reindexFiles(paths);
    this.#forgetSnapshot();
    const removed = paths.filter((path) => before.has(path) && this.#hashOf(path) === undefined).length;
    return { reindexed: changed - removed, removed };
  }

  /** With a limit, words stand in for vectors that are late or missing; the work continues, and the next sync does the rest. */
  async #giveVectors(checkpoint: string, withinMs: number | undefined): Promise<void> {
    this.#embedding ??= this.#embedMissing(checkpoint).finally(() => (this.#embedding = undefined));
    if (withinMs === undefined) return this.#embedding;
    const given = this.#embedding.catch(() => undefined);
    if (withinMs > 0) await Promise.race([given, setTimeout(withinMs, undefined, { ref: false })]);
  }

  /** Vectors for what another embedder, or none, saw so far. What git ignores and secrets are never sent anywhere. */
  async #embedMissing(checkpoint: string): Promise<void> {
    const missing = this.#store.all(
      "SELECT DISTINCT document.id AS id, path FROM document JOIN file ON file.document = document.id WHERE is_text = 1 AND vectors IS NOT ?",
      this.embedder,
    );
    if (missing.length === 0) return;
    const wanted = new Map(missing.map((row) => [String(row["path"]), Number(row["id"])]));
    const batch: { document: number; text: string }[] = [];
    const done = new Set<number>();
    const documents = this.#documents();
    for await (const file of this.#workspace.files(checkpoint)) {
      const path = displayPath(file.path);
      const document = wanted.get(path);
      if (document === undefined || done.has(document) || documents.get(file.hash) !== document) continue;
      if (this.#embedder.isRemote === true && (isPrivate(path) || file.isIgnored())) continue;
      done.add(document);
      batch.push({ document, text: textOf(Buffer.concat([...file.content()])) ?? "" });
      if (batch.length >= EMBEDDED_TOGETHER) await this.#embed(batch.splice(0));
    }
    if (batch.length > 0) await this.#embed(batch);
  }

  async #embed(batch: readonly { document: number; text: string }[]): Promise<void> {
    const pieces = batch.flatMap(({ document, text }) =>
      this.#store
        .all("SELECT id, start, stop FROM chunk WHERE document = ? ORDER BY id", document)
        .map((row) => ({
          id: Number(row["id"]),
          document,
          text: text.slice(Number(row["start"]), Number(row["stop"])),
        })),
    );
    const vectors = await this.#embedder.embed(
      pieces.map(({ text }) => text),
      "document",
      { signal: this.#closing.signal },
    );
    this.#store.transaction(() => {
      pieces.forEach(({ id }, at) =>
        this.#store.run("UPDATE chunk SET vector = ? WHERE id = ?", toBytes(vectors[at]!), id),
      );
      for (const { document } of batch)
        this.#store.run("UPDATE document SET vectors = ? WHERE id = ?", this.embedder, document);
    });
    pieces.forEach(({ id, document }, at) => this.#search.add(id, document, toBytes(vectors[at]!)));
  }

  /** Contents that no file has go first, then the files whose content was not used for longest. */
  #trim(): void {
    if (this.#store.bytes <= this.#capBytes) return;
    for (let round = 0; round < TRIMS && this.#store.bytes > this.#capBytes; round += 1) {
      let over = this.#store.bytes - this.#capBytes;
      const old = this.#store
        .all("SELECT id, bytes FROM document ORDER BY id IN (SELECT document FROM file), used_at, id")
        // an index takes about as much as its text
        .filter(({ bytes }) => over > 0 && ((over -= Number(bytes)), true));
      this.#store.transaction(() => old.forEach(({ id }) => this.#store.removeDocument(Number(id))));
      this.#store.compact();
    }
    this.#search.reset();
  }

  /** The next sync compares everything. */
  #forgetSnapshot(): void {
    if (this.#store.meta("snapshot") !== "") this.#store.setMeta("snapshot", "");
  }

  #hashes(): Map<string, string> {
    const rows = this.#store.all(
      "SELECT path, lower(hex(hash)) AS hash FROM file JOIN document ON document.id = file.document",
    );
    return new Map(rows.map((row) => [String(row["path"]), String(row["hash"])]));
  }

  #hashOf(path: string): string | undefined {
    const row = this.#store.get(
      "SELECT lower(hex(hash)) AS hash FROM file JOIN document ON document.id = file.document WHERE path = ?",
      path,
    );
    return row === undefined ? undefined : String(row["hash"]);
  }

  #isText(path: string): boolean {
    const sql = "SELECT is_text FROM file JOIN document ON document.id = file.document WHERE path = ?";
    return Number(this.#store.get(sql, path)?.["is_text"] ?? 0) === 1;
  }

  #documents(): Map<string, number> {
    const rows = this.#store.all("SELECT id, lower(hex(hash)) AS hash FROM document");
    return new Map(rows.map((row) => [String(row["hash"]), Number(row["id"])]));
  }

  #paths(): Map<number, string[]> {
    const paths = new Map<number, string[]>();
    for (const row of this.#store.all("SELECT path, document FROM file ORDER BY path"))
      append(paths, Number(row["document"]), String(row["path"]));
    return paths;
  }

  #chunkCount(document: number): number {
    return Number(
      this.#store.get("SELECT count(*) AS n FROM chunk WHERE document = ?", document)?.["n"] ?? 0,
    );
  }
}

function append(paths: Map<number, string[]>, document: number, path: string): void {
  const there = paths.get(document);
  if (there === undefined) paths.set(document, [path]);
  else there.push(path);
}

function readText(root: string, path: string): { hash: string; text: string } | undefined {
  const bytes = readRegularFile(root, path);
  const text = bytes && textOf(bytes);
  return bytes === undefined || text === undefined ? undefined : { hash: contentHash(bytes), text };
}

function toHit({ start, stop, ...found }: Found, text: string, checkpoint: string | null): Hit {
  const { path, startLine, endLine, score, hash } = found;
  return { path, startLine, endLine, text: text.slice(start, stop), score, hash, checkpoint };
}
