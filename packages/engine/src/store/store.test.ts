/** The contract of every store, kept by both of them; and what only a store on disk can go through. */
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, expect, test } from "vitest";
import { absolutePath } from "../fs/absolute-path.ts";
import { hashBytes } from "../model/object-hash.ts";
import { describeStore } from "../testing/store-contract.ts";
import { verifyStore } from "../upkeep/verify.ts";
import { openDatabase } from "./database.ts";
import { ObjectWriter } from "./object-writer.ts";
import { STORE_MIGRATIONS } from "./schema.ts";
import { openStore, readMeta, storeBytes, writeMeta, type Store } from "./store.ts";

const OWNER = { pid: process.pid, started: "", boot: "" };
const directories: string[] = [];

afterEach(() => {
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
});

function makeDirectory(): string {
  const directory = realpathSync(mkdtempSync(join(tmpdir(), "belay-store-")));
  directories.push(directory);
  return directory;
}

function openAt(directory: string, create = false): Store {
  return openStore(absolutePath(directory), { create });
}

function putText(store: Store, text: string): void {
  const writer = new ObjectWriter(store.db, store.objects, OWNER);
  writer.put(Buffer.from(text));
  writer.commit(() => undefined);
}

function hasText(store: Store, text: string): boolean {
  return store.objects.has(hashBytes(Buffer.from(text)));
}

/** What is thrown, as matched by its code. */
function code(expected: string): Error {
  return expect.objectContaining({ code: expected }) as Error;
}

describeStore("the store in SQLite on disk", () => openAt(makeDirectory(), true));
describeStore("the store in memory", () => openStore(undefined, { create: true }));

test("what was committed is there for the next process, with the same id", () => {
  const directory = makeDirectory();
  const first = openAt(directory, true);
  putText(first, "kept");
  first[Symbol.dispose]();
  using again = openAt(directory);
  expect(again.id).toBe(first.id);
  expect(hasText(again, "kept")).toBe(true);
  expect(storeBytes(again)).toBeGreaterThan(0);
  expect(verifyStore(again, { full: true }).ok).toBe(true);
});

test("every write-ahead commit is synced, foreign keys hold, the schema is not trusted", () => {
  using store = openAt(makeDirectory(), true);
  const pragma = (name: string) => Object.values(store.db.get(`PRAGMA ${name}`) ?? {})[0];
  expect(
    ["journal_mode", "synchronous", "foreign_keys", "trusted_schema", "auto_vacuum"].map(pragma),
  ).toEqual(["wal", 2, 1, 0, 2]);
  expect(pragma("busy_timeout")).toBeGreaterThanOrEqual(5000);
});

test("a store that is not there is not made by looking for it", () => {
  const directory = makeDirectory();
  expect(() => openAt(directory)).toThrow(code("STORE_MISSING"));
  expect(() => statSync(join(directory, "store.db"))).toThrow("ENOENT");
});

test("[A62] an older schema is brought up to date, from nothing at all upwards", () => {
  const directory = makeDirectory();
  const empty = new DatabaseSync(join(directory, "store.db"));
  empty.exec("PRAGMA user_version = 0; CREATE TABLE unrelated (x); DROP TABLE unrelated");
  empty.close();
  using store = openAt(directory);
  expect(store.db.get("PRAGMA user_version")).toEqual({ user_version: STORE_MIGRATIONS.length });
  putText(store, "works");
  expect(hasText(store, "works")).toBe(true);
  expect(verifyStore(store, { full: true }).ok).toBe(true);
});

test("[A62] migrations are applied one after the other, once, and a failing one leaves the old schema", () => {
  const path = absolutePath(join(makeDirectory(), "any.db"));
  const [first, second] = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y"];
  openDatabase(path, { migrations: [first], create: true }).close();
  expect(() =>
    openDatabase(path, { migrations: [first, second, "CREATE TABLE broken ("], create: false }),
  ).toThrow();
  const database = openDatabase(path, { migrations: [first, second], create: false });
  database.run("INSERT INTO a (x, y) VALUES (1, 2)");
  expect(database.get("PRAGMA user_version")).toEqual({ user_version: 2 });
  database.close();
});

test("[R20] a store of a newer format is refused and left as it is", () => {
  const directory = makeDirectory();
  openAt(directory, true)[Symbol.dispose]();
  const database = new DatabaseSync(join(directory, "store.db"));
  database.exec(`PRAGMA user_version = ${STORE_MIGRATIONS.length + 1}`);
  database.close();
  const newer = expect.objectContaining({
    code: "STORE_NEWER",
    facts: expect.objectContaining({
      version: STORE_MIGRATIONS.length + 1,
      supported: STORE_MIGRATIONS.length,
    }) as unknown,
  }) as Error;
  expect(() => openAt(directory)).toThrow(newer);
  const after = new DatabaseSync(join(directory, "store.db"));
  expect(after.prepare("PRAGMA user_version").get()).toEqual({ user_version: STORE_MIGRATIONS.length + 1 });
  after.close();
});

const LOSSES: Record<string, (directory: string) => void> = {
  deleted: (directory) => unlinkSync(join(directory, "store.db")),
  "moved away": (directory) => renameSync(join(directory, "store.db"), join(directory, "elsewhere.db")),
  "replaced by a copy": (directory) => {
    copyFileSync(join(directory, "store.db"), join(directory, "copy.db"));
    renameSync(join(directory, "copy.db"), join(directory, "store.db"));
  },
  "gone with its directory": (directory) => rmSync(directory, { recursive: true }),
};

for (const [how, lose] of Object.entries(LOSSES)) {
  test(`[R2] a store that is ${how} while open acknowledges nothing more`, () => {
    const directory = makeDirectory();
    using store = openAt(directory, true);
    putText(store, "before");
    lose(directory);
    const facts = { store: join(directory, "store.db") };
    expect(() => putText(store, "after")).toThrow(
      expect.objectContaining({ code: "STORE_REPLACED", facts }) as Error,
    );
    expect(() => store.db.transaction(() => writeMeta(store.db, "key", "value"))).toThrow(
      code("STORE_REPLACED"),
    );
    expect(hasText(store, "after")).toBe(false);
  });
}

test("a file that is no database is called damaged, not overwritten", () => {
  const directory = makeDirectory();
  writeFileSync(join(directory, "store.db"), "this is not a database, whatever its name says. ".repeat(100));
  expect(() => openAt(directory)).toThrow(code("STORE_CORRUPT"));
  expect(statSync(join(directory, "store.db")).size).toBe(4800);
});

test("damage that is met in the middle of reading is called damage", () => {
  const directory = makeDirectory();
  const store = openAt(directory, true);
  for (let index = 0; index < 200; index += 1) {
    store.db.run("INSERT INTO meta (key, value) VALUES (?, ?)", `key ${index}`, "v".repeat(500));
  }
  store[Symbol.dispose]();
  const path = join(directory, "store.db");
  const bytes = readFileSync(path);
  // the page of a leaf of that table
  const page = Math.floor(bytes.indexOf("key 150") / 4096) * 4096;
  writeFileSync(
    path,
    Buffer.concat([bytes.subarray(0, page), Buffer.alloc(4096, 0xff), bytes.subarray(page + 4096)]),
  );
  using damaged = openAt(directory);
  expect(() => damaged.db.all("SELECT * FROM meta")).toThrow(code("STORE_CORRUPT"));
  expect(() => [...damaged.db.iterate("SELECT * FROM meta")]).toThrow(code("STORE_CORRUPT"));
});

test("[R2] a reader that stops half-way does not keep its connection from writing after another's write", () => {
  const directory = makeDirectory();
  using store = openAt(directory, true);
  for (let n = 0; n < 10; n += 1) writeMeta(store.db, `key ${n}`, "value");
  for (const _ of store.db.iterate("SELECT * FROM meta")) break;
  expect(() => {
    for (const _ of store.db.iterate("SELECT * FROM meta")) throw new Error("stopped");
  }).toThrow("stopped");
  using other = openAt(directory);
  writeMeta(other.db, "key 1", "of another process");
  store.db.transaction(() => writeMeta(store.db, "key 2", "after it"));
  expect(readMeta(other.db, "key 2")).toBe("after it");
});

test("a table that lacks what it must have is called damage", () => {
  const directory = makeDirectory();
  openAt(directory, true)[Symbol.dispose]();
  const path = join(directory, "store.db");
  writeFileSync(
    path,
    readFileSync(path, "latin1").replaceAll("raw_bytes INTEGER", "rax_bytes INTEGER"),
    "latin1",
  );
  using damaged = openAt(directory);
  expect(() => damaged.db.get("SELECT raw_bytes FROM pack")).toThrow(code("STORE_CORRUPT"));
  const insert = "INSERT INTO pack (raw_bytes, cold, data) VALUES (1, 0, x'00')";
  expect(() => damaged.db.run(insert)).toThrow(code("STORE_CORRUPT"));
});

test("a store that another process keeps locked is busy, and fine afterwards", async () => {
  const directory = makeDirectory();
  using store = openAt(directory, true);
  const script = `
    const { DatabaseSync } = require("node:sqlite");
    const db = new DatabaseSync(${JSON.stringify(join(directory, "store.db"))}, { timeout: 5000 });
    db.exec("BEGIN IMMEDIATE; INSERT INTO meta VALUES ('locked', 1)");
    process.stdout.write("locked");
    process.stdin.once("data", () => { db.exec("ROLLBACK"); process.exit(); });`;
  const holder = spawn(process.execPath, ["-e", script], { stdio: ["pipe", "pipe", "inherit"] });
  await once(holder.stdout, "data");
  expect(() => putText(store, "meanwhile")).toThrow(code("STORE_BUSY"));
  expect(hasText(store, "meanwhile")).toBe(false);
  holder.stdin.write("go");
  await once(holder, "exit");
  putText(store, "later");
  expect(hasText(store, "later")).toBe(true);
  expect(readMeta(store.db, "locked")).toBeUndefined();
  expect(verifyStore(store, { full: true }).ok).toBe(true);
});

const isRoot = process.getuid?.() === 0;

const READ_ONLY_PLACES = { "an ordinary path": "plain", "a path with # ? % and ü": "a#b?c%20 ü" };

test.skipIf(!isRoot).for(Object.entries(READ_ONLY_PLACES))(
  "a read-only store at %s can be read and says that it cannot be written",
  ([, name]) => {
    const directory = join(makeDirectory(), name);
    mkdirSync(directory);
    const [inside, mounted] = [join(directory, "inside"), join(directory, "mounted")];
    for (const each of [inside, mounted]) mkdirSync(each);
    const writable = openAt(inside, true);
    putText(writable, "readable");
    writable[Symbol.dispose]();
    execFileSync("mount", ["--bind", inside, mounted]);
    try {
      execFileSync("mount", ["-o", "remount,ro,bind", mounted]);
      using store = openAt(mounted);
      expect(store.db.readOnly).toBe(true);
      expect(hasText(store, "readable")).toBe(true);
      expect(() => putText(store, "written")).toThrow(code("STORE_READ_ONLY"));
      expect(verifyStore(store, { full: true }).ok).toBe(true);
    } finally {
      execFileSync("umount", [mounted]);
    }
  },
);

test.skipIf(!isRoot)("a store of another user can be read by one who may read it", () => {
  const directory = makeDirectory();
  const store = openAt(directory, true);
  putText(store, "readable");
  store[Symbol.dispose]();
  chmodSync(directory, 0o755);
  chmodSync(join(directory, "store.db"), 0o644);
  const script = `
    import { openStore } from ${JSON.stringify(new URL("store.ts", import.meta.url).href)};
    const store = openStore(${JSON.stringify(directory)}, { create: false });
    let refused;
    try { store.db.transaction(() => store.db.run("DELETE FROM object")); } catch (error) { refused = error.code; }
    console.log(JSON.stringify([store.db.readOnly, Object.values(store.db.get("SELECT count(*) FROM object"))[0], refused]));`;
  const as = ["--reuid=65534", "--regid=65534", "--clear-groups"];
  const output = execFileSync("setpriv", [...as, process.execPath, "--input-type=module", "-e", script], {
    encoding: "utf8",
  });
  expect(JSON.parse(output)).toEqual([true, 1, "STORE_READ_ONLY"]);
});

test("what the store has is left out of a pack wherever it lies in it, and the rest is read as it was put", () => {
  using store = openAt(makeDirectory(), true);
  const contents = Array.from({ length: 40 }, (_, at) => Buffer.alloc(1 + at * 331, `content ${at} `));
  const known = contents.filter((_, at) => at === 0 || at % 7 === 3 || at === 39);
  const put = (those: readonly Buffer[]) => {
    const writer = new ObjectWriter(store.db, store.objects, OWNER);
    for (const content of those) writer.put(content);
    writer.commit(() => undefined);
  };
  put(known);
  put(contents);
  store.objects.forgetCache();
  for (const content of contents) expect(store.objects.read(hashBytes(content))).toEqual(content);
  const packs = store.db.all("SELECT raw_bytes FROM pack ORDER BY id").map((row) => Number(row["raw_bytes"]));
  const bytesOf = (those: readonly Buffer[]) => those.reduce((sum, { length }) => sum + length, 0);
  expect(packs).toEqual([bytesOf(known), bytesOf(contents) - bytesOf(known)]);
  expect(verifyStore(store, { full: true }).ok).toBe(true);
});
