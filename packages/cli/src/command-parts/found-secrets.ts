/** What looks like a secret in what the first push would send. Everything is encrypted; the user decides all the same. */
import { displayPath, EngineError, type BytePath, type Checkpoint, type Workspace } from "@belay/engine";
import { redact } from "@belay/protocol/redact";
import { holdsSecret, isNamedSecret } from "../output/secret-file.ts";

const LARGEST_FILE = 128 * 1024;
const MESSAGES = 100_000;

/** Places that look like secrets, and whether there are more. */
export interface FoundSecrets {
  readonly places: string[];
  readonly more: boolean;
}

/** Where to look for secrets. */
export interface SecretSearch {
  /** As many places are named. */
  readonly most: number;
  /** What is older is not looked at. */
  readonly since: number;
  /** Whether the remote has a content already, or does not get it. */
  readonly isSent: (hash: string) => boolean;
}

/** [R1506] Looks through every checkpoint since a time, its words, and the messages of all threads. */
export async function findSecrets(workspace: Workspace, search: SecretSearch): Promise<FoundSecrets> {
  const { most } = search;
  const places: string[] = [];
  for await (const place of secretPlaces(workspace, search)) {
    if (places.length === most) return { places, more: true };
    places.push(place);
  }
  return { places, more: false };
}

/** Newest first; a path is named once. */
async function* secretPlaces(workspace: Workspace, { since, isSent }: SecretSearch): AsyncGenerator<string> {
  const all: Checkpoint[] = [];
  for (const id of workspace.exchange.checkpoints()) {
    const checkpoint = await stillThere(workspace, id);
    if (checkpoint !== undefined) all.push(checkpoint);
  }
  const named = new Set<BytePath>();
  for (const [n, checkpoint] of [...all.entries()].toReversed()) {
    if (checkpoint.createdAt < since) continue;
    for await (const path of secretFiles(workspace, checkpoint, all[n - 1])) {
      const hashAt = async ({ id }: Checkpoint) => (await workspace.file(id, path, 0))?.hash ?? "";
      const hash = await hashAt(checkpoint);
      if (named.has(path) || isSent(hash)) continue;
      named.add(path);
      const isPresent = (await hashAt(all.at(-1)!)) === hash;
      yield isPresent ? displayPath(path) : `${displayPath(path)} in checkpoint ${checkpoint.seq}`;
    }
    if (wordsHoldSecret(checkpoint)) yield `the prompt of checkpoint ${checkpoint.seq}`;
  }
  yield* secretMessages(workspace, since);
}

/** What was pruned is not sent. */
async function stillThere(workspace: Workspace, id: string): Promise<Checkpoint | undefined> {
  try {
    return await workspace.resolve(id);
  } catch (error) {
    if (error instanceof EngineError && error.code === "CHECKPOINT_NOT_FOUND") return undefined;
    throw error;
  }
}

/** Of what a checkpoint has and the one before it had not. */
async function* secretFiles(
  workspace: Workspace,
  { id }: Checkpoint,
  before: Checkpoint | undefined,
): AsyncGenerator<BytePath> {
  if (before === undefined) {
    for await (const file of workspace.files(id))
      if (file.kind === "file" && looksSecret(file.path, file.size, () => Buffer.concat([...file.content()])))
        yield file.path;
    return;
  }
  const { files } = await workspace.diff({ from: before.id, to: id, detail: "names" });
  for (const { path, type } of files) {
    if (type === "deleted") continue;
    const file = await workspace.file(id, path, LARGEST_FILE);
    if (file !== null && looksSecret(path, file.size, () => file.content ?? Buffer.alloc(0))) yield path;
  }
}

async function* secretMessages(workspace: Workspace, since: number): AsyncGenerator<string> {
  for (const { id } of await workspace.threads.list()) {
    const { messages } = await workspace.threads.history(id, { limit: MESSAGES });
    if (messages.some(({ content, createdAt }) => createdAt >= since && isRedacted(content)))
      yield `a message of thread ${id}`;
  }
}

/** The files of a checkpoint, or those at some paths, and its words, that look like secrets. */
export async function findSecretsIn(
  workspace: Workspace,
  {
    checkpoint,
    paths,
    most,
  }: {
    readonly checkpoint: Checkpoint;
    readonly paths?: readonly string[] | undefined;
    readonly most: number;
  },
): Promise<FoundSecrets> {
  const places = wordsHoldSecret(checkpoint) ? ["its name, note or description"] : [];
  for await (const file of workspace.files(checkpoint.id, paths)) {
    if (file.kind !== "file") continue;
    if (looksSecret(file.path, file.size, () => Buffer.concat([...file.content()])))
      places.push(displayPath(file.path));
    if (places.length > most) return { places: places.slice(0, most), more: true };
  }
  return { places, more: false };
}

function wordsHoldSecret({ name, note, description }: Checkpoint): boolean {
  return [name, note, description].some((text) => text !== null && isRedacted(text));
}

function looksSecret(path: BytePath, size: number, content: () => Buffer): boolean {
  return isNamedSecret(displayPath(path)) || (size <= LARGEST_FILE && holdsSecret(content()));
}

function isRedacted(text: string): boolean {
  return redact(text) !== text;
}
