/** A bundle: a conversation that `belay export --bundle` wrote. */
import {
  pathFromBytes,
  whyNotImported,
  type BytePath,
  type CheckpointKind,
  type GapReason,
  type ImportedFile,
  type ImportedMessage,
  type ImportedSession,
  type ImportRequest,
  type MessageRole,
  type SessionName,
  type ThreadImport,
} from "@belay/engine";
import { BUNDLE_FORMAT } from "../archive/bundle.ts";
import type { TarFile } from "../archive/read-tar.ts";
import { listOf, numberOf, recordOf, textOf, textsOf } from "./facts.ts";
import { coversOf, lost, unionOf, type FoundCheckpoint, type FoundHistory } from "./importer.ts";
import { sha256, type Skipped } from "./old-data.ts";

const ORIGIN = "bundle";

/** What a bundle holds; `isHere` says of a checkpoint whether this very one is in the store already. */
export function readBundle(
  tar: TarFile,
  skipped: Skipped[],
  isHere: (id: string) => boolean,
): FoundHistory & { readonly alreadyHere: number } {
  const bundle = recordOf(JSON.parse(tar.content("thread.json")?.toString("utf8") ?? "{}"));
  if (bundle["format"] !== BUNDLE_FORMAT) throw new Error("it is not a bundle of Belay");
  const reader = new BundleReader(tar, skipped);
  const listed = listOf(bundle["checkpoints"]).map(recordOf);
  const found = listed.map((facts) => reader.checkpoint(facts));
  const covers = unionOf(found.map(({ paths }) => paths));
  const checkpoints = found
    .filter(({ checkpoint }) => !isHere(checkpoint.alias))
    .map(({ checkpoint, isWhole, paths }) => ({ ...checkpoint, covers: coversOf(isWhole, covers, paths) }));
  const thread = threadOf(bundle, checkpoints);
  return { directory: undefined, threads: [thread], alreadyHere: found.length - checkpoints.length };
}

function threadOf(
  bundle: Readonly<Record<string, unknown>>,
  checkpoints: readonly FoundCheckpoint[],
): ThreadImport {
  const thread = recordOf(bundle["thread"]);
  return {
    origin: ORIGIN,
    agent: textOf(thread["agent"]) ?? ORIGIN,
    externalId: textOf(thread["externalId"]) ?? "",
    title: textOf(thread["title"]) ?? null,
    createdAt: numberOf(thread["createdAt"]) ?? 0,
    updatedAt: numberOf(thread["updatedAt"]) ?? 0,
    checkpoints,
    messages: listOf(bundle["messages"]).map(recordOf).map(messageOf),
    sessions: listOf(bundle["sessions"]).map(recordOf).map(sessionOf),
  };
}

function messageOf(facts: Readonly<Record<string, unknown>>): ImportedMessage {
  const checkpoint = textOf(facts["checkpoint"]);
  return {
    role: String(facts["role"]) as MessageRole,
    content: typeof facts["content"] === "string" ? facts["content"] : "",
    externalId: textOf(facts["externalId"]) ?? String(facts["id"]),
    createdAt: numberOf(facts["createdAt"]) ?? 0,
    session: String(facts["session"]) as SessionName,
    artifacts: listOf(facts["artifacts"]),
    ...(checkpoint === undefined ? {} : { checkpoint }),
  };
}

function sessionOf(facts: Readonly<Record<string, unknown>>): ImportedSession {
  return {
    name: String(facts["name"]) as SessionName,
    status: String(facts["status"]) as ImportedSession["status"],
    createdAt: numberOf(facts["createdAt"]) ?? 0,
    closedAt: numberOf(facts["closedAt"]) ?? null,
    base: textOf(facts["base"]) ?? null,
    approved: textOf(facts["approved"]) ?? null,
    message: textOf(facts["message"]) ?? null,
  };
}

class BundleReader {
  readonly #tar: TarFile;
  readonly #skipped: Skipped[];

  constructor(tar: TarFile, skipped: Skipped[]) {
    this.#tar = tar;
    this.#skipped = skipped;
  }

  checkpoint(facts: Readonly<Record<string, unknown>>): {
    checkpoint: Omit<FoundCheckpoint, "covers">;
    paths: BytePath[];
    isWhole: boolean;
  } {
    const id = String(facts["id"]);
    const files = [...listOf(facts["files"]), ...listOf(facts["gaps"])].map(recordOf).flatMap((file) => {
      const path = this.#path(file["path"]);
      return path === undefined ? [] : [{ ...file, path }];
    });
    const [phase] = ["before", "after"].filter((each) => each === facts["phase"]) as ("before" | "after")[];
    const session = textOf(facts["session"]) as SessionName | undefined;
    const [parent] = textsOf(facts["parents"]);
    const texts = optional({
      name: textOf(facts["name"]),
      note: textOf(facts["note"]),
      messageId: textOf(facts["messageId"]),
      toolUseId: textOf(facts["toolUseId"]),
      tool: textOf(facts["tool"]),
      messageIndex: numberOf(facts["messageIndex"]),
      agent: (facts["agent"] ?? undefined) as ImportRequest["agent"],
      git: (facts["git"] ?? undefined) as ImportRequest["git"],
      conversation: (facts["conversation"] ?? undefined) as ImportRequest["conversation"],
      phase,
      session,
      parent: parent === undefined ? undefined : { alias: parent },
    });
    const checkpoint = {
      alias: id,
      kind: String(facts["kind"]) as CheckpointKind,
      description: textOf(facts["description"]) ?? id,
      createdAt: numberOf(facts["createdAt"]) ?? 0,
      tags: textsOf(facts["tags"]),
      ...texts,
      files: { [Symbol.iterator]: () => this.#files(id, files) },
    };
    return { checkpoint, paths: files.map(({ path }) => path), isWhole: Array.isArray(facts["files"]) };
  }

  #path(value: unknown): BytePath | undefined {
    const path = pathFromBytes(Buffer.from(typeof value === "string" ? value : "", "base64"));
    const why = whyNotImported(path);
    if (why === undefined) return path;
    this.#skipped.push({ what: String(value), reason: why });
    return undefined;
  }

  *#files(
    id: string,
    files: readonly (Readonly<Record<string, unknown>> & { readonly path: BytePath })[],
  ): Generator<ImportedFile> {
    for (const { path, kind, mode, hash, size, reason } of files) {
      const bytes = numberOf(size) ?? 0;
      if (typeof reason === "string") {
        yield { path, kind: "gap", reason: reason as GapReason, size: bytes };
        continue;
      }
      const content = this.#tar.content(`objects/${String(hash)}`);
      const problem =
        content === undefined
          ? "it is missing"
          : sha256(content) === hash
            ? undefined
            : "its content is damaged";
      if (content !== undefined && problem === undefined)
        yield { path, kind: kind === "symlink" ? "symlink" : "file", mode: numberOf(mode) ?? 0o644, content };
      else {
        this.#skipped.push({ what: `${id}: ${path}`, reason: problem! });
        yield lost(path, bytes);
      }
    }
  }
}

/** Without what is undefined. */
function optional<Facts extends Record<string, unknown>>(
  facts: Facts,
): { [Name in keyof Facts]?: Exclude<Facts[Name], undefined> } {
  return Object.fromEntries(Object.entries(facts).filter(([, value]) => value !== undefined)) as never;
}
