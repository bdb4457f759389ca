/** Old data that was made, or changed, to lead an import astray. */
import { mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { deflateSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";
import { LooseRepository, OldPlace, sha256 } from "./old-place.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let place: OldPlace;
const DIALOG = ".agentsmithy/dialogs/01JABC";
const AT = 1_761_217_200;

beforeEach(() => {
  sandbox = new Sandbox({ "main.py": "now\n", "pkg/mod.py": "mod now\n" });
  place = new OldPlace(sandbox.path("."));
});
afterEach(() => sandbox[Symbol.dispose]());

/** Moves a directory of the data out of the project and leaves a link to it. */
function lead(path: string): void {
  const elsewhere = join(sandbox.base, `elsewhere-${sha256(path).slice(0, 8)}`);
  renameSync(place.path(path), elsewhere);
  symlinkSync(elsewhere, place.path(path));
}

function saidOf({ skipped }: { skipped: readonly { what: string; reason: string }[] }): string[] {
  return skipped.map(({ what, reason }) => `${what}: ${reason}`);
}

test("[R840] directories of the data that are links are named and not followed, in every kind", () => {
  const conversation = ".mimir/context/conversations/conv-1";
  place.json(`${conversation}/snapshots/snap-1/metadata.json`, {
    id: "snap-1",
    timestamp: "2026-01-01T00:00:00Z",
  });
  place.write(`${conversation}/snapshots/snap-1/files/main.py`, "linked\n");
  lead(conversation);
  expect(saidOf(place.import(sandbox, ["mimir", "."], 3))).toEqual([
    `${conversation}: it is a symbolic link`,
  ]);

  const hash = sha256(sandbox.project).slice(0, 16);
  const files = [{ path: sandbox.path("main.py"), content: "linked\n", existed: true }];
  place.json(`.codebuddy/history/${hash}/cp_1.json`, {
    id: "cp_1",
    files,
    workingDirectory: sandbox.project,
  });
  place.json(`.codebuddy/history/${hash}/index.json`, { projectPath: sandbox.project });
  place.json(".codebuddy/versions/versions.json", { versions: [], branches: [], tags: [] });
  lead(`.codebuddy/history/${hash}`);
  expect(place.import(sandbox, ["code-buddy", "."], 3)).toMatchObject({
    checkpoints: 0,
    skipped: [{ what: `history/${hash}`, reason: "it is a symbolic link" }],
  });

  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  repository.head("main", commitOf(repository, repository.tree({ "main.py": "linked\n" })));
  mkdirSync(place.path(".agentsmithy/dialogs/01JOWN"));
  lead(DIALOG);
  expect(place.import(sandbox, ["agentsmithy", "."], 3)).toMatchObject({
    checkpoints: 0,
    skipped: [{ what: DIALOG, reason: "it is a symbolic link" }],
  });
  expect(sandbox.json(["list", "--search", "linked"]).checkpoints).toEqual([]);
});

test("[R840] a name of the data that is a link in the workspace now means the link, not the file behind it", () => {
  const home = new OldPlace(join(sandbox.base, ".codebuddy"));
  const hash = sha256(sandbox.project).slice(0, 16);
  rmSync(sandbox.path("main.py"));
  symlinkSync("pkg/mod.py", sandbox.path("main.py"));
  symlinkSync("pkg", sandbox.path("old"));
  symlinkSync(sandbox.project, join(sandbox.base, "way-in"));
  const file = (path: string, content: string) => ({
    path,
    content,
    existed: true,
    hash: sha256(content).slice(0, 16),
  });
  home.json(`history/${hash}/cp_1.json`, {
    id: "cp_1",
    timestamp: "2026-05-01T10:00:00.000Z",
    description: "Before editing",
    workingDirectory: sandbox.project,
    files: [
      file(sandbox.path("main.py"), "one\n"),
      file(sandbox.path("old/lib.py"), "lib\n"),
      file(join(sandbox.base, "way-in/pkg/new.py"), "new\n"),
    ],
  });
  home.json(`history/${hash}/index.json`, { projectPath: sandbox.project });
  home.import(sandbox, [home.directory]);
  const plan = sandbox.json(["restore", "cp_1", "--dry-run"]).plan;
  expect(plan.affectedFiles.toSorted()).toEqual(["main.py", "old", "old/lib.py", "pkg/new.py"]);
  sandbox.ok("restore", "cp_1", "main.py", "--yes");
  expect([sandbox.read("main.py"), sandbox.read("pkg/mod.py")]).toEqual(["one\n", "mod now\n"]);
});

test("[R841] objects that inflate without measure, and trees that name each other, end in a reason", () => {
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const bomb = "b0".repeat(20);
  const bytes = deflateSync(Buffer.alloc(257 * 1024 * 1024), { level: 1 });
  place.write(`${DIALOG}/checkpoints/.git/objects/b0/${bomb.slice(2)}`, bytes);
  const many = (hash: string, mode: string) =>
    Buffer.concat(
      Array.from({ length: 1_001 }, (_, at) =>
        Buffer.concat([Buffer.from(`${mode} n${at}\0`), Buffer.from(hash, "hex")]),
      ),
    );
  const leaf = repository.object("tree", many(repository.object("blob", Buffer.from("x")), "100644"));
  const nested = repository.object("tree", many(repository.object("tree", many(leaf, "40000")), "40000"));
  const withBomb = repository.object(
    "tree",
    Buffer.concat([Buffer.from("100644 main.py\0"), Buffer.from(bomb, "hex")]),
  );
  const first = commitOf(repository, withBomb);
  const second = commitOf(repository, nested, [first]);
  repository.head("session_1", second);
  writeEndlessJournal();
  const said = place.import(sandbox, ["."], 3);
  expect(said.checkpoints).toBe(1);
  expect(saidOf(said)).toEqual([
    `tree of commit ${second.slice(0, 12)}: it has more than 1000000 names`,
    `${first.slice(0, 12)}: main.py: it is larger than 256 MiB`,
  ]);
  sandbox.ok("restore", first, "--yes");
  expect(sandbox.read("main.py")).toBe("now\n");
});

test("[N6] a tree that cannot be read says nothing about its files: no restore deletes them", () => {
  const repository = new LooseRepository(place, `${DIALOG}/checkpoints/.git`);
  const whole = repository.tree({ "main.py": "one\n", "pkg/mod.py": "mod\n" });
  const first = commitOf(repository, whole);
  const lost = repository.tree({ "mod.py": "lost\n" });
  const partly = repository.object(
    "tree",
    Buffer.concat([Buffer.from("40000 pkg\0"), Buffer.from(lost, "hex")]),
  );
  const second = commitOf(repository, partly, [first]);
  const third = commitOf(repository, lost, [second]);
  repository.head("session_1", third);
  rmSync(place.path(`${DIALOG}/checkpoints/.git/objects/${lost.slice(0, 2)}/${lost.slice(2)}`));
  const said = place.import(sandbox, ["."], 3);
  expect(said.checkpoints).toBe(2);
  expect(saidOf(said)).toEqual([
    `tree of commit ${third.slice(0, 12)}: it is missing`,
    `${second.slice(0, 12)}: pkg: it is missing`,
  ]);
  sandbox.ok("restore", second, "--yes");
  expect([sandbox.read("main.py"), sandbox.read("pkg/mod.py")]).toEqual([undefined, "mod now\n"]);
});

function commitOf(repository: LooseRepository, tree: string, parents: readonly string[] = []): string {
  return repository.commit({ tree, parents, at: AT + parents.length, message: "One" });
}

/** A journal whose table of sessions is a view that never ends. */
function writeEndlessJournal(): void {
  using journal = new DatabaseSync(place.path(`${DIALOG}/journal.sqlite`));
  journal.exec(`CREATE VIEW sessions AS
    WITH RECURSIVE n(id) AS (SELECT 1 UNION ALL SELECT id + 1 FROM n) SELECT * FROM n`);
}

test("[R840] a link on the way to what is read is not followed either: above the data, and between it and a file", () => {
  const conversation = ".mimir/context/conversations/conv-1";
  place.json(`${conversation}/snapshots/snap-1/metadata.json`, {
    id: "snap-1",
    timestamp: "2026-01-01T00:00:00Z",
  });
  place.write(`${conversation}/snapshots/snap-1/files/main.py`, "linked\n");
  lead(".mimir/context");
  expect(sandbox.error(["import", "mimir", "."], 4).code).toBe("NOTHING_TO_IMPORT");

  const [app, hash] = ["workspaces/personal/checkpoints/app/conv", sha256("linked\n")];
  place.json(`${app}/snapshots/m1.json`, {
    messageId: "m1",
    appDir: sandbox.project,
    createdAt: "2026-01-01T00:00:00Z",
    files: [{ path: "main.py", hash, size: 7, mode: 0o644, exists: true }],
  });
  place.write(`${app}/blobs/${hash.slice(0, 2)}/${hash}`, "linked\n");
  lead(`${app}/blobs/${hash.slice(0, 2)}`);
  expect(saidOf(place.import(sandbox, ["moldable", "."], 3))).toEqual(["m1: main.py: it is a symbolic link"]);
  sandbox.ok("restore", "m1", "--yes");
  expect(sandbox.read("main.py")).toBe("now\n");
});
