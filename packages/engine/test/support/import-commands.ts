/** Commands of the model test about checkpoints from elsewhere: they come, stay out of everything, and are restored. */
import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type { BytePath, Outcome } from "../../src/index.ts";
import { command } from "./model-command.ts";
import { describeFile, type TreeMap } from "./tree-map.ts";
import { pathsAbove, readCheckpointMap, watchDestructive, type ModelImport } from "./workspace-model.ts";

/** Where edits make files too, and where they never do. */
const PATHS = ["a", "b", "c.txt", "a/a", "a/b", "b/a", "b/c.txt", "far/away/x", "far/y"];
const CONTENTS = ["one\n", "two\none\n", "", "\0\x01binary\xff", "far away\n"];

interface ImportFacts {
  readonly files: readonly {
    readonly path: string;
    readonly content: string;
    readonly executable: boolean;
  }[];
  /** More paths that the other program knew of, and had not. */
  readonly covers: readonly string[];
}

const facts = fc.record<ImportFacts>({
  files: fc.uniqueArray(
    fc.record({
      path: fc.constantFrom(...PATHS),
      content: fc.constantFrom(...CONTENTS),
      executable: fc.boolean(),
    }),
    { selector: ({ path }) => path, maxLength: 5 },
  ),
  covers: fc.uniqueArray(fc.constantFrom(...PATHS), { maxLength: 5 }),
});

/** A file cannot be a directory at once. */
function possible({ files }: ImportFacts): ImportFacts["files"] {
  const paths = new Set(files.map(({ path }) => path));
  return files.filter(({ path }) => !pathsAbove(path).some((above) => paths.has(above)));
}

/** [R371] Nothing but the import itself tells of it. */
export const importState = facts.map((each) =>
  command("import", async (model, temp) => {
    const { workspace } = temp;
    const [before, listed] = [temp.tree(), (await workspace.list()).map(({ id }) => id)];
    const status = await workspace.status();
    const files = possible(each);
    const covers = [...new Set([...files.map(({ path }) => path), ...each.covers])];
    const { id } = await workspace.importCheckpoint({
      origin: "model",
      // two working copies import into one store, where an alias is known once
      alias: randomUUID(),
      kind: "manual",
      description: "from elsewhere",
      createdAt: 1_700_000_000_000,
      files: files.map(({ path, content, executable }) => ({
        path: path as BytePath,
        kind: "file",
        mode: executable ? 0o755 : 0o644,
        content: Buffer.from(content, "latin1"),
      })),
      covers: covers as BytePath[],
    });
    const target = new Map<string, string>();
    for (const { path, content, executable } of files) {
      for (const above of pathsAbove(path)) target.set(above, "directory 755");
      target.set(path, describeFile(executable ? 0o755 : 0o644, Buffer.from(content, "latin1")));
    }
    const sorted = new Map([...target].sort(byPath));
    model.imports.set(id, { files: sorted, covers: new Set(covers) });
    assert.deepEqual(await readCheckpointMap(temp, id), sorted);
    assert.deepEqual(temp.tree(), before);
    assert.deepEqual(
      (await workspace.list()).map((listedNow) => listedNow.id),
      listed,
    );
    const { changedFiles } = await workspace.status();
    assert.deepEqual(changedFiles, status.changedFiles);
    return `${[...target.keys()].join(", ")} of ${covers.join(", ")}`;
  }),
);

/** [R370] */
export const restoreImport = fc.nat(1000).map((choice) =>
  command("restore an import", async (model, temp) => {
    if (model.imports.size === 0) return;
    const id = [...model.imports.keys()][choice % model.imports.size]!;
    const known = model.imports.get(id)!;
    const { outcome, before, after } = await watchDestructive(temp, model, () =>
      temp.workspace.restoreTo(id),
    );
    if (outcome.outcome === "applied")
      model.applied.push({ before, after, checkpoint: outcome.newCheckpoint! });
    if (outcome.outcome === "conflicts") return "conflicts";
    expectImportRestored(known, { before, after, kept: outcome.kept });
    return `${[...known.files.keys()].join(", ")} of ${[...known.covers].join(", ")}`;
  }),
);

/** The files of the import are there; what it knew to be absent is gone; everything else is as it was. */
function expectImportRestored(
  { files, covers }: ModelImport,
  { before, after, kept }: { before: TreeMap; after: TreeMap; kept: Outcome["kept"] },
): void {
  const isKept = (path: string) =>
    kept.some((each) => path === each.path || path.startsWith(`${each.path}/`));
  const isDirectory = (node: string | undefined) => node?.startsWith("directory") === true;
  for (const [path, node] of files)
    if (!isDirectory(node) && !isKept(path)) assert.equal(after.get(path), node, path);
  for (const [path, node] of before) {
    const now = after.get(path);
    if (files.has(path) && !isDirectory(files.get(path))) continue;
    if (isDirectory(node) && (isDirectory(now) || now === undefined)) {
      // a directory goes only with files that went, and never changes its mode
      const went = [...before.keys()].some((below) => below.startsWith(`${path}/`) && covers.has(below));
      if (now === undefined) assert.ok(went, `${path} went`);
      else assert.equal(now, node, path);
    } else if (covers.has(path) && !files.has(path)) {
      if (!isKept(path)) assert.equal(now, undefined, path);
    } else if (!isDirectory(files.get(path))) {
      assert.equal(now, node, path);
    }
  }
  for (const path of after.keys()) assert.ok(before.has(path) || files.has(path), `${path} came`);
}

function byPath([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : 1;
}
