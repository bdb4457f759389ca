/** Stores as an attacker would write them: sealed and hashed as they should be, with names that should not be. */
import { listWorkspaces, openWorkspace } from "../../src/index.ts";
import type { AbsolutePath } from "../../src/fs/absolute-path.ts";
import { hashChanges } from "../../src/history/changes.ts";
import { sealOf } from "../../src/history/checkpoint-seal.ts";
import { writeJournal } from "../../src/history/journal.ts";
import type { BytePath } from "../../src/model/byte-path.ts";
import type { OperationId } from "../../src/model/ids.ts";
import type { Entry } from "../../src/model/entry.ts";
import { hashToBytes, type ObjectHash } from "../../src/model/object-hash.ts";
import { encodeEntry, encodeTree } from "../../src/model/tree.ts";
import { ObjectWriter } from "../../src/store/object-writer.ts";
import { openStore, type Store } from "../../src/store/store.ts";
import { createSystem } from "../../src/fs/system.ts";
import { join } from "node:path";
import { writeFileSync } from "node:fs";

export interface Forgery {
  readonly name: string;
  readonly forge: (forger: Forger) => void;
}

const NAMES = [
  "..",
  ".",
  "",
  "../outside",
  "a/b",
  "/tmp",
  "a\0b",
  "\0",
  ".git",
  "d/../../outside/file",
  "../outside/file",
  "../outside/new",
];

const asTree = (title: string, entries: (forger: Forger) => [string, Entry][]): Forgery => ({
  name: `tree: ${title}`,
  forge: (forger) => forger.setSnapshot(entries(forger)),
});

const asChange = (path: string, kind: "file" | "directory" | "gone"): Forgery => ({
  name: `change: ${kind} at ${JSON.stringify(path)}`,
  forge: (forger) => forger.setChange(path, kind === "gone" ? undefined : forger.entry(kind)),
});

const asJournal = (path: string): Forgery => ({
  name: `journal: ${JSON.stringify(path)}`,
  forge: (forger) => forger.setJournal(path),
});

export const FORGERIES: readonly Forgery[] = [
  ...NAMES.flatMap((name) => [
    asTree(`a file ${JSON.stringify(name)}`, (forger) => [[name, forger.entry("file")]]),
    asTree(`a directory ${JSON.stringify(name)}`, (forger) => [[name, forger.entry("directory")]]),
    asTree(`a link ${JSON.stringify(name)}`, (forger) => [[name, forger.entry("symlink")]]),
    asTree(`below d ${JSON.stringify(name)}`, (forger) => [
      ["d", forger.directory([[name, forger.entry("file")]])],
    ]),
    asChange(name, "file"),
    asChange(name, "directory"),
    asChange(name, "gone"),
    asJournal(name),
  ]),
  asTree("a link and a file through it", (forger) => [
    ["d", forger.entry("symlink")],
    ["d", forger.directory([["file", forger.entry("file")]])],
  ]),
  asTree("a name twice", (forger) => [
    ["same", forger.entry("file")],
    ["same", forger.entry("file")],
  ]),
  asTree("names that differ in case, or in how they are written", (forger) => [
    ["A", forger.entry("file")],
    ["a", forger.entry("file")],
    ["e\xcc\x81", forger.entry("file")],
    ["\xc3\xa9", forger.entry("file")],
  ]),
  asTree("a file that runs as its owner", (forger) => [
    ["suid", { ...forger.entry("file"), mode: 0o4755 } as Entry],
  ]),
  asTree("a directory with special bits", (forger) => [
    ["d", { ...forger.entry("directory"), mode: 0o7777 } as Entry],
  ]),
];

/** Protects the directory of a trap and forges its second checkpoint. */
export async function forgeStore(place: { root: string; home: string }, { forge }: Forgery): Promise<void> {
  {
    await using workspace = await openWorkspace(place.root, { home: place.home });
    await workspace.turns.run({ prompt: "two" }, async () => writeFileSync(join(place.root, "same"), "2\n"));
  }
  const [known] = await listWorkspaces({ home: place.home });
  using store = openStore(known!.store as AbsolutePath, { create: false });
  const forger = new Forger(store);
  store.db.transaction(() => forge(forger));
  forger.finish();
}

class Forger {
  readonly #store: Store;
  readonly #writer: ObjectWriter;

  constructor(store: Store) {
    this.#store = store;
    this.#writer = new ObjectWriter(store.db, store.objects, createSystem().owner);
  }

  entry(kind: "file" | "directory" | "symlink"): Entry {
    if (kind === "directory") return this.directory([["file", this.entry("file")]]);
    const bytes = Buffer.from(kind === "symlink" ? "../outside" : "forged\n");
    const hash = this.#writer.put(bytes);
    return kind === "symlink"
      ? { kind, size: bytes.length, hash }
      : { kind, mode: 0o644, size: bytes.length, hash };
  }

  directory(entries: readonly (readonly [string, Entry])[]): Entry {
    return { kind: "directory", mode: 0o755, hash: this.#writer.put(encodeTree(entries)) };
  }

  setSnapshot(entries: readonly (readonly [string, Entry])[]): void {
    this.#flush();
    const snapshot = this.#writer.put(encodeTree(entries));
    this.#flush();
    this.#store.db.run("UPDATE checkpoint SET snapshot = ? WHERE seq >= 2", hashToBytes(snapshot));
  }

  setChange(path: string, old: Entry | undefined): void {
    this.#flush();
    const present = this.#store.db.get("SELECT new FROM change WHERE checkpoint = 3")?.["new"];
    this.#store.db.run(
      "UPDATE change SET path = ?, old = ?, new = ? WHERE checkpoint = 3",
      Buffer.from(path, "latin1"),
      old === undefined ? null : encodeEntry(old),
      old === undefined ? (present as Uint8Array) : null,
    );
  }

  setJournal(path: string): void {
    const to = this.entry("file");
    this.#flush();
    writeJournal(this.#store.db, {
      id: "klmnopqrstuvwxyz" as OperationId,
      safety: 1,
      edits: [{ path: path as BytePath, from: undefined, to }],
      finish: { kind: "restore", description: "forged", thread: null, target: null, step: null, moved: [] },
      startedAt: 0,
    });
  }

  #flush(): void {
    this.#writer.commit(() => undefined);
  }

  /** Seals what was changed as if it had always been so. */
  finish(): void {
    const { db } = this.#store;
    for (const row of db.all("SELECT * FROM checkpoint")) {
      const seq = Number(row["seq"]);
      const hex = (column: string) => Buffer.from(row[column] as Uint8Array).toString("hex") as ObjectHash;
      const delta = hashChanges(db, seq);
      const seal = sealOf(
        {
          id: row["id"],
          thread: row["thread"],
          kind: row["kind"],
          createdAt: row["created_at"],
          snapshot: hex("snapshot"),
          rules: hex("rules"),
          excluded: hex("excluded"),
          parents: JSON.parse(String(row["parents"])) as unknown,
        } as never,
        delta,
      );
      db.run("UPDATE checkpoint SET delta = ?, seal = ? WHERE seq = ?", delta, seal, seq);
    }
  }
}
