/** The search index beside what it costs to do without it: its search, its sync, staying in step, its size, and captures with it. */
import { appendFileSync } from "node:fs";
import { join } from "node:path";
import { openWorkspace, type Workspace } from "@belay/engine";
import {
  hashedEmbedder,
  keepInStep,
  openIndex,
  toBytes,
  VectorTable,
  type Embedder,
  type RetrievalIndex,
} from "@belay/retrieval";
import { median, milliseconds, ms, type Row } from "./measure.ts";
import { createProject, type Project } from "./project.ts";
import { createRandom, type Random } from "./random.ts";

const TOUCHED = 10;

/** One row for each budget of the index. */
export async function measureRetrieval(
  place: string,
  { files, chunks, rounds }: { files: number; chunks: number; rounds: number },
): Promise<Row[]> {
  const project = createProject(join(place, "indexed"), files, 13);
  const home = join(place, "indexed-home");
  const counted = countEmbeddings(hashedEmbedder());
  await using workspace = await openWorkspace(project.root, { home });
  const bare = await captures(workspace, project, rounds);
  await using index = await openIndex(workspace, { scope: "all", embedder: counted });
  const stop = keepInStep(workspace, index);
  await index.sync();
  const rows = [
    await searchRow(chunks, rounds),
    await syncRow({ workspace, index, files, rounds }),
    await inStepRow({ workspace, index, project, counted, rounds }),
    sizeRow(index, project),
    capturesRow(files, await captures(workspace, project, rounds), bare),
  ];
  stop();
  return rows;
}

function countEmbeddings(embedder: Embedder): Embedder & { calls: number } {
  const counted = {
    ...embedder,
    calls: 0,
    embed: (texts: readonly string[], as: "document" | "query") => {
      counted.calls += 1;
      return embedder.embed(texts, as);
    },
  };
  return counted;
}

/** The quick search against comparing every vector, and how much of the same it finds. */
async function searchRow(chunks: number, rounds: number): Promise<Row> {
  const random = createRandom(7);
  const embedder = hashedEmbedder();
  const texts = Array.from({ length: chunks }, () => textOf(random));
  const vectors = await embedder.embed(texts, "document");
  const table = new VectorTable(embedder.dimensions);
  vectors.forEach((vector, at) => table.add(at, at, toBytes(vector)));
  const [quick, whole]: [number[], number[]] = [[], []];
  let [same, all] = [0, 0];
  for (let round = 0; round < rounds + 5; round += 1) {
    const words = random.pick(texts).split(" ").slice(0, 12).join(" ");
    const [query] = await embedder.embed([words], "query");
    let found = new Set<number>();
    quick.push(
      milliseconds(() => (found = new Set(table.nearest(query!, 10, () => true).map(({ id }) => id)))),
    );
    let exact: number[] = [];
    whole.push(milliseconds(() => (exact = nearestOf(vectors, query!))));
    same += exact.filter((id) => found.has(id)).length;
    all += exact.length;
  }
  const [own, other, recall] = [median(quick), median(whole), same / all];
  return row(`search in vectors, recall@10 ${recall.toFixed(2)}`, chunks, {
    own,
    other,
    most: 0.35,
    what: "a scan of floats, recall ≥ 0.95",
    isKept: recall >= 0.95,
  });
}

function textOf(random: Random): string {
  return Array.from({ length: 120 }, () => `w${Math.floor(random.next() ** 3 * 3000).toString(36)}`).join(
    " ",
  );
}

function nearestOf(vectors: readonly Float32Array[], query: Float32Array): number[] {
  const scored = vectors.map((vector, id) => {
    let score = 0;
    for (let at = 0; at < vector.length; at += 1) score += vector[at]! * query[at]!;
    return { id, score };
  });
  return scored
    .sort((a, b) => b.score - a.score)
    .slice(0, 10)
    .map(({ id }) => id);
}

interface Indexed {
  readonly workspace: Workspace;
  readonly index: RetrievalIndex;
  readonly rounds: number;
}

/** Nothing changed: the checkpoint of the message was just taken, so its tree is compared and no file is read. */
async function syncRow({ workspace, index, files, rounds }: Indexed & { files: number }): Promise<Row> {
  const [own, other]: [number[], number[]] = [[], []];
  for (let round = 0; round < rounds; round += 1) {
    other.push(await timed(() => workspace.status()));
    await workspace.checkpoint();
    own.push(await timed(() => index.sync({ captured: true })));
  }
  return row("sync of the index, nothing changed", files, {
    own: median(own),
    other: median(other),
    most: 0.25,
    what: "a full scan",
  });
}

async function inStepRow({
  workspace,
  index,
  project,
  counted,
  rounds,
}: Indexed & { project: Project; counted: { calls: number } }): Promise<Row> {
  const [own, other]: [number[], number[]] = [[], []];
  let calls = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { id } = await workspace.checkpoint();
    for (const file of project.files.slice(0, TOUCHED)) appendFileSync(file, `// ${round}\n`);
    await index.sync();
    const before = counted.calls;
    other.push(await timed(() => workspace.restoreTo(id)));
    own.push(await timed(() => index.idle()));
    calls += counted.calls - before;
  }
  return row(`in step after a restore of ${TOUCHED} files, ${calls} embeddings`, project.files.length, {
    own: median(own),
    other: median(other),
    most: 1,
    what: "the restore, 0 embeddings",
    isKept: calls === 0,
  });
}

function sizeRow(index: RetrievalIndex, { bytes, files }: Project): Row {
  const ratio = index.bytes / bytes;
  return {
    work: "size of the index",
    files: files.length,
    belay: `${(index.bytes / 1024 / 1024).toFixed(1)} MiB`,
    git: "",
    ratio: `${ratio.toFixed(2)} ×`,
    budget: "≤ 1.2 × the text",
    holds: ratio <= 1.2,
  };
}

async function captures(workspace: Workspace, { files }: Project, rounds: number): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 2 * rounds + 5; round += 1) {
    for (const file of files.slice(0, TOUCHED)) appendFileSync(file, `// capture ${round}\n`);
    times.push(await timed(() => workspace.checkpoint()));
  }
  return median(times);
}

function capturesRow(files: number, own: number, other: number): Row {
  return row("cold capture with an index", files, { own, other, most: 1.05, what: "one without" });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function row(
  work: string,
  files: number,
  {
    own,
    other,
    most,
    what,
    isKept = true,
  }: { own: number; other: number; most: number; what: string; isKept?: boolean },
): Row {
  return {
    work,
    files,
    belay: ms(own),
    git: "",
    ratio: `${(own / other).toFixed(2)} ×`,
    budget: `≤ ${most} × ${what}`,
    holds: own <= most * other && isKept,
  };
}
