/** Finds pieces of the index by words, by likeness and by the words of paths, and ranks them as one. */
import type { Embedder } from "./embedder.ts";
import type { IndexStore } from "./index-store.ts";
import { fuseRankings } from "./rank.ts";
import type { SearchOptions } from "./retrieval-index.ts";
import { VectorTable } from "./vector-table.ts";
import { queryWords } from "./words.ts";

/** A piece that was found, under one of the paths that have its content. */
export interface Found {
  readonly path: string;
  readonly hash: string;
  readonly start: number;
  readonly stop: number;
  readonly startLine: number;
  readonly endLine: number;
  readonly score: number;
}

const FROM_EACH = 100;

/** Searches in one index. */
export class IndexSearch {
  readonly #store: IndexStore;
  readonly #embedder: Embedder;
  #vectors: VectorTable | undefined;

  constructor(store: IndexStore, embedder: Embedder) {
    this.#store = store;
    this.#embedder = embedder;
  }

  /** Takes a new vector in, if those in memory are loaded. */
  add(id: number, document: number, vector: Int8Array): void {
    this.#vectors?.add(id, document, vector);
  }

  /** The vectors are loaded again when they are next needed. */
  reset(): void {
    this.#vectors = undefined;
  }

  /** Pieces of these documents, best first: at most twice as many as asked for, each once for every path. */
  async find(
    query: string,
    { mode = "hybrid", k = 10, paths: within }: SearchOptions,
    paths: ReadonlyMap<number, readonly string[]>,
  ): Promise<Found[]> {
    const wanted = within === undefined ? paths : limited(paths, within);
    const words = queryWords(query);
    const rankings = [
      ...(mode === "vector" || words.length === 0
        ? []
        : [this.#byWords(words, wanted), this.#byPath(words, wanted)]),
      ...(mode === "text" ? [] : [await this.#byLikeness(query, wanted)]),
    ];
    const found: Found[] = [];
    for (const { id, score } of fuseRankings(rankings)) {
      if (found.length >= k * 2) break;
      found.push(...this.#describe(id, score, wanted));
    }
    return found;
  }

  #byWords(words: readonly string[], wanted: ReadonlyMap<number, unknown>): number[] {
    const rows = this.#store.all(
      `SELECT chunk.id AS id FROM chunk_text JOIN chunk ON chunk.id = chunk_text.rowid
       WHERE chunk_text MATCH ? AND chunk.document IN (SELECT value FROM json_each(?))
       ORDER BY bm25(chunk_text), chunk.id LIMIT ?`,
      matching(words),
      JSON.stringify([...wanted.keys()]),
      FROM_EACH,
    );
    return rows.map(({ id }) => Number(id));
  }

  /** The first piece of each file whose path has the words. */
  #byPath(words: readonly string[], wanted: ReadonlyMap<number, unknown>): number[] {
    const rows = this.#store.all(
      `SELECT (SELECT min(id) FROM chunk WHERE chunk.document = file.document) AS id
       FROM file_text JOIN file ON file.id = file_text.rowid
       WHERE file_text MATCH ? AND file.document IN (SELECT value FROM json_each(?))
       ORDER BY bm25(file_text), file.path LIMIT ?`,
      matching(words),
      JSON.stringify([...wanted.keys()]),
      FROM_EACH,
    );
    return [...new Set(rows.flatMap(({ id }) => (id === null ? [] : [Number(id)])))];
  }

  async #byLikeness(query: string, wanted: ReadonlyMap<number, unknown>): Promise<number[]> {
    const vectors = await this.#load(query);
    if (vectors === undefined) return [];
    const near = vectors.table.nearest(vectors.query, FROM_EACH, (document) => wanted.has(document));
    return near.filter(({ score }) => score > 0).map(({ id }) => id);
  }

  /** Undefined when there are no vectors of this embedder, or it does not answer: words still find. */
  async #load(query: string): Promise<{ table: VectorTable; query: Float32Array } | undefined> {
    const has = this.#store.get("SELECT 1 FROM document WHERE vectors = ? LIMIT 1", this.#embedder.name);
    if (has === undefined) return undefined;
    let vector: Float32Array | undefined;
    try {
      [vector] = await this.#embedder.embed([query], "query");
    } catch {
      return undefined;
    }
    if (vector === undefined) return undefined;
    if (this.#vectors === undefined) {
      this.#vectors = new VectorTable(vector.length);
      // an endpoint whose vectors have another length now: the next sync asks for them again
      this.#store.run(
        "UPDATE document SET vectors = NULL WHERE vectors = ? AND id IN (SELECT document FROM chunk WHERE length(vector) <> ?)",
        this.#embedder.name,
        vector.length,
      );
      const rows = this.#store.all(
        "SELECT chunk.id AS id, document, vector FROM chunk JOIN document ON document.id = chunk.document WHERE vectors = ? AND vector IS NOT NULL",
        this.#embedder.name,
      );
      for (const row of rows) {
        const bytes = row["vector"] as Uint8Array;
        const numbers = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
        this.#vectors.add(Number(row["id"]), Number(row["document"]), numbers);
      }
    }
    return { table: this.#vectors, query: vector };
  }

  #describe(id: number, score: number, paths: ReadonlyMap<number, readonly string[]>): Found[] {
    const row = this.#store.get(
      "SELECT document, start, stop, start_line, end_line, lower(hex(hash)) AS hash FROM chunk JOIN document ON document.id = chunk.document WHERE chunk.id = ?",
      id,
    );
    if (row === undefined) return [];
    return (paths.get(Number(row["document"])) ?? []).map((path) => ({
      path,
      hash: String(row["hash"]),
      start: Number(row["start"]),
      stop: Number(row["stop"]),
      startLine: Number(row["start_line"]),
      endLine: Number(row["end_line"]),
      score,
    }));
  }
}

function matching(words: readonly string[]): string {
  return words.map((word) => `"${word}"`).join(" OR ");
}

/** Only what is at or below one of these paths. */
function limited(
  paths: ReadonlyMap<number, readonly string[]>,
  within: readonly string[],
): Map<number, readonly string[]> {
  const wanted = within.map((path) => path.replace(/^\.\/|\/+$/g, ""));
  const isWithin = (path: string) =>
    wanted.some((above) => above === "" || above === "." || path === above || path.startsWith(`${above}/`));
  return new Map(
    [...paths]
      .map(([document, all]) => [document, all.filter(isWithin)] as const)
      .filter(([, all]) => all.length > 0),
  );
}
