/** Archives are unpacked with the real `tar`, and compared byte for byte. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { BytePath } from "../model/byte-path.ts";
import type { ExportedFile } from "./answers.ts";
import { tarArchive } from "./tar-archive.ts";

const TIME = Date.UTC(2026, 0, 31);
let directory: string;

beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "belay-tar-"))));
afterEach(() => rmSync(directory, { recursive: true }));

test("modes, symbolic links, empty directories and empty files survive", async () => {
  await unpack([
    folder("empty"),
    folder("bin"),
    file("bin/tool", "#!/bin/sh\n", 0o755),
    file("nothing", ""),
    link("to-tool", "bin/tool"),
  ]);
  expect(readdirSync(directory).sort()).toEqual(["bin", "empty", "nothing", "to-tool"]);
  expect(readdirSync(join(directory, "empty"))).toEqual([]);
  expect(statSync(join(directory, "bin/tool")).mode & 0o777).toBe(0o755);
  expect(statSync(join(directory, "bin/tool")).mtimeMs).toBe(TIME);
  expect(statSync(join(directory, "nothing")).size).toBe(0);
  expect(readlinkSync(join(directory, "to-tool"))).toBe("bin/tool");
});

test.each([1, 511, 512, 513, 1024, 100_000])("content of %i bytes ends where it should", async (size) => {
  const content = Buffer.alloc(size, "x");
  await unpack([file("a", content), file("b", "after")]);
  expect(readFileSync(join(directory, "a"))).toEqual(content);
  expect(readFileSync(join(directory, "b"), "utf8")).toBe("after");
});

test.each([
  ["100 bytes", "n".repeat(100)],
  ["101 bytes in one name", "n".repeat(101)],
  ["a name of 255 bytes", "n".repeat(255)],
  ["200 bytes that can be split", `${"d".repeat(120)}/${"n".repeat(79)}`],
  ["no slash where it would fit", `${"d".repeat(30)}/${"n".repeat(150)}`],
  ["far more than 255 bytes", `${"long/".repeat(80)}end`],
  ["a newline and spaces", "a b\nc"],
  ["text of other scripts, long", `${"ü".repeat(60)}/日本語`],
])("names of %s survive", async (_, name) => {
  await unpack([file(name, "here"), link(`${name}.link`, `target/${name}`)], {
    skip: name.length + 5 > 255 && !name.includes("/"),
  });
  expect(readFileSync(join(directory, name), "utf8")).toBe("here");
});

test("targets longer than a header holds survive", async () => {
  const target = "t/".repeat(200);
  await unpack([link("l", target)]);
  expect(readlinkSync(join(directory, "l"))).toBe(target);
});

test.each([5, 150])("names that are not UTF-8 (%i bytes) survive", async (length) => {
  const name = Buffer.alloc(length, 0xfc);
  await unpack([file(name, "bytes")]);
  expect(readdirSync(directory, { encoding: "buffer" })).toEqual([name]);
  expect(readFileSync(Buffer.concat([Buffer.from(`${directory}/`), name]), "utf8")).toBe("bytes");
});

test("a file over 8 GiB has its size in a pax header", async () => {
  const huge: ExportedFile = { ...file("huge", ""), size: 9 * 1024 ** 3 };
  const pieces = tarArchive(each([huge]), TIME);
  const { value } = await pieces.next();
  expect(value!.toString("latin1")).toContain(" size=9663676416\n");
  expect(value!.length).toBe(3 * 512);
});

test("equal files give equal archives", async () => {
  const files = [folder("d"), file("d/a", "1")];
  expect(await archiveOf(files)).toEqual(await archiveOf(files));
});

async function unpack(files: ExportedFile[], { skip = false } = {}): Promise<void> {
  const archive = await archiveOf(skip ? files.slice(0, 1) : files);
  execFileSync("tar", ["-x", "-p", "-C", directory], { input: archive });
}

async function archiveOf(files: ExportedFile[]): Promise<Buffer> {
  return Buffer.concat(await Array.fromAsync(tarArchive(each(files), TIME)));
}

async function* each(files: ExportedFile[]): AsyncGenerator<ExportedFile> {
  yield* await Promise.resolve(files);
}

function file(name: string | Buffer, content: string | Buffer, mode = 0o644): ExportedFile {
  const bytes = Buffer.from(content);
  const path = bytePath(name);
  const facts = { hash: "", isIgnored: () => false };
  return { path, kind: "file", mode, size: bytes.length, ...facts, content: () => [bytes] };
}

function link(name: string, target: string): ExportedFile {
  return { ...file(name, target), kind: "symlink" };
}

function folder(name: string): ExportedFile {
  return { ...file(name, "", 0o755), kind: "directory" };
}

function bytePath(name: string | Buffer): BytePath {
  return Buffer.from(name).toString("latin1") as BytePath;
}
