/** `belay find` and `belay index`. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await Sandbox.protected({
    "src/retry-policy.ts": "/** How often a request is tried. */\nexport const retryBudget = 3;\n",
    "src/parser.ts": "export function parseHeader(text: string) {\n  return text.trim();\n}\n",
    "image.bin": "\0\u0001",
  });
});
afterEach(async () => {
  await sandbox.verify();
  sandbox[Symbol.dispose]();
});

const indexFile = () => join(sandbox.json(["status"]).store as string, "index.db");

test("[R430, R432] off until it is first used; then files, checkpoints and changes are found as they are", () => {
  expect(sandbox.ok("index")).toContain("There is no index.");
  expect(existsSync(indexFile())).toBe(false);
  const first = sandbox.belay(["find", "retry budget"]);
  expect(first.stderr).toContain("Indexing the text files of this workspace");
  expect(first.stdout).toMatch(/^src\/retry-policy\.ts:1-2\n {2}\/\*\* How often/);
  expect(sandbox.belay(["find", "parse", "header", "-k", "1"])).toMatchObject({
    status: 0,
    stderr: "",
    stdout: expect.stringContaining("src/parser.ts:1-3"),
  });
  sandbox.write("src/parser.ts", "// nothing here\n");
  sandbox.write("src/new.ts", "export const brandNewThing = 1;\n");
  expect(
    sandbox
      .json(["find", "parseHeader"])
      .hits.map(({ text }: { text: string }) => text)
      .join(""),
  ).not.toContain("parseHeader");
  expect(sandbox.json(["find", "brandNewThing", "-k", "1"]).hits).toMatchObject([
    { path: "src/new.ts", checkpoint: null },
  ]);
  const [past] = sandbox.json(["find", "parseHeader", "--at", "1", "-k", "1"]).hits;
  expect(past).toMatchObject({ path: "src/parser.ts", checkpoint: expect.any(String), startLine: 1 });
  sandbox.ok("restore", "1", "--yes");
  expect(sandbox.json(["find", "parseHeader", "-k", "1"]).hits).toMatchObject([{ path: "src/parser.ts" }]);
  expect(sandbox.ok("find", "zzzunknownword", "-k", "1")).toBeTypeOf("string");
});

test("the index is shown, synced, changed by hand, made again and removed", () => {
  expect(sandbox.ok("index", "sync")).toContain("2 files indexed, 0 taken out, 1 that are not text");
  expect(sandbox.ok("index", "status")).toMatch(
    /^2 text files of this workspace are indexed \(.*vectors: hash-1\)/,
  );
  expect(sandbox.json(["index"])).toMatchObject({ exists: true, scope: "all", files: 2, embedder: "hash-1" });
  expect(sandbox.ok("index", "remove", "src/parser.ts")).toMatch(
    /^1 file taken out of the index until it is next compared/,
  );
  expect(sandbox.json(["index"])).toMatchObject({ files: 1 });
  const added = sandbox.belay(["index", "add", "src/parser.ts", "nowhere.ts", "image.bin"]);
  expect([added.status, added.stdout]).toEqual([3, "1 file indexed.\n"]);
  expect(added.stderr.match(/Not indexed: (nowhere\.ts|image\.bin) is not there, is no text/g)).toHaveLength(
    2,
  );
  expect(sandbox.json(["index", "add", "src/parser.ts"])).toEqual({ added: 1, notIndexed: [] });
  expect(sandbox.ok("index", "rebuild")).toContain("2 files indexed again.");
  sandbox.ok("index", "off");
  expect(existsSync(indexFile())).toBe(false);
  expect(sandbox.belay(["index", "add"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["index", "sync", "x"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["index", "nonsense"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["find", "x", "-k", "0"])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["find", " "])).toMatchObject({ status: 2 });
  expect(sandbox.belay(["find", "x", "--at", "nothing"])).toMatchObject({ status: 4 });
});

test("[R2434] an endpoint that cannot be reached is no reason not to answer", () => {
  const settings = { embedder: "endpoint", url: "http://127.0.0.1:1/v1", model: "m" };
  for (const [name, value] of Object.entries(settings)) sandbox.ok("config", `retrieval.${name}`, value);
  const [first] = sandbox.json(["find", "retry budget"]).hits;
  expect(first).toMatchObject({ path: "src/retry-policy.ts" });
  expect(sandbox.belay(["index", "sync"]).status).toBe(1);
});
