/** What makes vectors of texts: a local one that needs nothing, or an endpoint of the user's. */
import { hash } from "node:crypto";
import { wordsOf } from "./words.ts";

/** Makes vectors. Those of another name cannot be compared with its own. */
export interface Embedder {
  readonly name: string;
  readonly dimensions: number;
  /** Texts leave this machine: some are never given to it. */
  readonly isRemote?: boolean;
  /** `signal` ends it. */
  embed(
    texts: readonly string[],
    as: "document" | "query",
    options?: { readonly signal?: AbortSignal },
  ): Promise<Float32Array[]>;
}

const DIMENSIONS = 384;

/** Words and their trigrams by hash: honest lexical likeness, without a download. */
export function hashedEmbedder(): Embedder {
  return {
    name: "hash-1",
    dimensions: DIMENSIONS,
    embed: async (texts) => texts.map(hashedVector),
  };
}

function hashedVector(text: string): Float32Array {
  const counts = new Map<number, number>();
  for (const word of wordsOf(text))
    for (const feature of featuresOf(word)) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  const vector = new Float32Array(DIMENSIONS);
  for (const [feature, times] of counts) {
    const weight = (1 + Math.log(times)) * (feature >= OF_TRIGRAM ? 0.4 : 1);
    const bits = feature % OF_TRIGRAM;
    vector[(bits >>> 1) % DIMENSIONS]! += (bits & 1) === 0 ? weight : -weight;
  }
  return normalized(vector);
}

/** Marks the hash of a trigram. */
const OF_TRIGRAM = 2 ** 32;
/** The same words come again and again. */
const known = new Map<string, readonly number[]>();
const MOST_KNOWN = 50_000;

function featuresOf(word: string): readonly number[] {
  let features = known.get(word);
  if (features === undefined) {
    const padded = `^${word}$`;
    const trigrams = Array.from({ length: padded.length - 2 }, (_, at) => padded.slice(at, at + 3));
    features = [hashOf(word), ...trigrams.map((trigram) => OF_TRIGRAM + hashOf(`#${trigram}`))];
    if (known.size >= MOST_KNOWN) known.clear();
    known.set(word, features);
  }
  return features;
}

/** FNV-1a with a finish, so that the lowest bit is as good as the others. */
function hashOf(text: string): number {
  let bits = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) bits = Math.imul(bits ^ text.charCodeAt(at), 0x01000193);
  bits = Math.imul(bits ^ (bits >>> 15), 0x2c1b3c6d);
  return (bits ^ (bits >>> 13)) >>> 0;
}

/** The vector with length 1. */
function normalized(vector: Float32Array): Float32Array {
  let sum = 0;
  for (const value of vector) sum += value * value;
  if (sum > 0) {
    const factor = 1 / Math.sqrt(sum);
    for (let at = 0; at < vector.length; at += 1) vector[at]! *= factor;
  }
  return vector;
}

/** Where an endpoint is and what it is asked for. */
export interface EndpointOptions {
  /** `<url>/embeddings` is posted to, as OpenAI's API has it. */
  readonly url: string;
  readonly model: string;
  readonly key?: string;
  readonly dimensions?: number;
}

const BATCH = 96;
const TRIES = 3;
const FIRST_PAUSE_MS = 200;
const TIMEOUT_MS = 60_000;
/** A question is waiting for its answer, and has words to be answered by. */
const QUERY_TIMEOUT_MS = 5000;

/** An embedder over HTTP. Its dimensions are those of its first answer unless they are given. */
export function endpointEmbedder({ url, model, key, dimensions }: EndpointOptions): Embedder {
  let length = dimensions ?? 0;
  const ask = async (input: readonly string[], signal: AbortSignal): Promise<Float32Array[]> => {
    const answer = await fetch(`${url.replace(/\/+$/, "")}/embeddings`, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(key === undefined || key === "" ? {} : { authorization: `Bearer ${key}` }),
      },
      body: JSON.stringify({ model, input, ...(dimensions === undefined ? {} : { dimensions }) }),
      signal,
    });
    if (!answer.ok) throw new EndpointError(`The endpoint answered ${answer.status}.`, answer.status);
    const vectors = readVectors(await answer.json(), input.length);
    length ||= vectors[0]?.length ?? 0;
    if (vectors.some((vector) => vector.length !== length))
      throw new EndpointError(`The endpoint's vectors have not ${length} dimensions.`, 400);
    return vectors;
  };
  return {
    name: `endpoint-${hash("sha256", `${url}\n${model}\n${dimensions ?? ""}`).slice(0, 16)}`,
    isRemote: true,
    get dimensions() {
      return length;
    },
    embed: async (texts, as, { signal } = {}) => {
      const within = (ms: number) => AbortSignal.any([AbortSignal.timeout(ms), ...(signal ? [signal] : [])]);
      if (as === "query") return ask(texts, within(QUERY_TIMEOUT_MS));
      const vectors: Float32Array[] = [];
      for (let at = 0; at < texts.length; at += BATCH)
        vectors.push(
          ...(await withTries(() => ask(texts.slice(at, at + BATCH), within(TIMEOUT_MS)), signal)),
        );
      return vectors;
    },
  };
}

class EndpointError extends Error {
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/** An endpoint that says no will say no again; one that is busy or away is asked again. */
async function withTries<Result>(
  work: () => Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  for (let round = 1; ; round += 1) {
    try {
      return await work();
    } catch (error) {
      const isRefusal =
        error instanceof EndpointError && error.status < 500 && error.status !== 429 && error.status !== 408;
      if (isRefusal || round === TRIES || signal?.aborted === true) throw error;
      await new Promise((resolve) => setTimeout(resolve, FIRST_PAUSE_MS * 2 ** (round - 1)));
    }
  }
}

function readVectors(answer: unknown, wanted: number): Float32Array[] {
  const { data } = answer as { data?: { index?: number; embedding?: unknown }[] };
  if (!Array.isArray(data) || data.length !== wanted)
    throw new EndpointError("The endpoint's answer has not one vector for each text.", 400);
  const vectors = new Map<number, Float32Array>();
  data.forEach(({ index = vectors.size, embedding }) => {
    if (!Array.isArray(embedding) || embedding.length === 0 || !embedding.every(Number.isFinite))
      throw new EndpointError("The endpoint's answer has no vectors.", 400);
    vectors.set(index, normalized(Float32Array.from(embedding as number[])));
  });
  return Array.from({ length: wanted }, (_, at) => {
    const vector = vectors.get(at);
    if (vector !== undefined) return vector;
    throw new EndpointError("The endpoint's answer has not one vector for each text.", 400);
  });
}
