/** A search index over the files of a workspace, kept in step with every change and every way back. */
export { chunksOf, type Chunk } from "./chunks.ts";
export { endpointEmbedder, hashedEmbedder, type Embedder, type EndpointOptions } from "./embedder.ts";
export { hasIndex, keepInStep, openIndex, openIndexSync, removeIndex } from "./open-index.ts";
export type {
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
export { VectorTable, toBytes } from "./vector-table.ts";
export { wordsOf } from "./words.ts";
