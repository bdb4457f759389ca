/** What a supervisor left in its data directory: metadata of checkpoints by session, and blobs beside them. */
import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { closeDropIn } from "@belay/drop-in";
import { CheckpointStorage } from "@belay/drop-in/supervisor";
import { afterEach, beforeEach, expect, test } from "vitest";
import { OldPlace, sha256 } from "./old-place.ts";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;
let place: OldPlace;

beforeEach(() => {
  sandbox = new Sandbox({ "a.ts": "now\n", "new.ts": "made later\n", "b.ts": "b\n" });
  place = new OldPlace(join(sandbox.base, "data"));
});
afterEach(() => sandbox[Symbol.dispose]());

function checkpoint(
  session: string,
  id: string,
  facts: Record<string, unknown>,
  files: readonly Record<string, unknown>[],
): void {
  place.json(`checkpoints/${session}/${id}.meta.json`, {
    id,
    sessionId: session,
    type: "auto",
    messageIndex: 4,
    createdAt: "2026-05-01T10:00:00.000Z",
    sizeBytes: 2,
    ...facts,
    files,
  });
}

function saved(session: string, path: string, content: Buffer, encoding: "utf-8" | "base64" = "utf-8") {
  const text = content.toString(encoding);
  place.write(`checkpoints/${session}/blobs/${sha256(text)}`, text);
  return { path, encoding, mode: 0o644, hash: sha256(text) };
}

test("[R370] [R372] checkpoints come with names, notes, git state and binary content; a restore touches only their own files", async () => {
  const binary = Buffer.from([0, 255, 254, 10]);
  checkpoint(
    "s1",
    "cp-1",
    {
      toolUseId: "toolu_1",
      git: { branch: "main", commitHash: "c".repeat(40), hasUncommittedChanges: true, stagedFiles: ["a.ts"] },
    },
    [
      saved("s1", join(sandbox.project, "a.ts"), Buffer.from("x\n")),
      saved("s1", "logo.bin", binary, "base64"),
      { path: "new.ts", encoding: "utf-8", mode: 0, hash: "deleted" },
    ],
  );
  checkpoint(
    "s1",
    "cp-2",
    {
      type: "manual",
      name: "good",
      annotation: "before the refactor",
      createdAt: "2026-05-01T11:00:00.000Z",
    },
    [saved("s1", "b.ts", Buffer.from("b then\n"))],
  );
  checkpoint("s2", "cp-1", {}, [saved("s2", "a.ts", Buffer.from("other session\n"))]);
  expect(sandbox.error(["import", "supervisor", place.directory, "--dry-run"], 3)).toBeUndefined();
  const said = place.import(sandbox, [place.directory, "--into", "."]);
  expect(said).toMatchObject({ kind: "supervisor", threads: 2, checkpoints: 3, files: 4, skipped: [] });
  expect(sandbox.json(["show", "s1/cp-1"]).checkpoint).toMatchObject({
    kind: "tool",
    toolUseId: "toolu_1",
    messageIndex: 4,
    git: { branch: "main", dirty: true, staged: ["a.ts"] },
  });
  expect(sandbox.json(["show", "good"]).checkpoint).toMatchObject({
    kind: "manual",
    note: "before the refactor",
  });
  // the short id means the first session that has it
  expect(sandbox.json(["show", "cp-1"]).checkpoint.id).toBe(sandbox.json(["show", "s1/cp-1"]).checkpoint.id);
  // [R2491] the supervisor's interface over this store knows them by session, absent files too
  const options = { projectDir: sandbox.project, home: sandbox.home };
  for (const [session, files] of [
    ["s1", ["x\n", binary.toString("base64"), null]],
    ["s2", ["other session\n"]],
  ] as const) {
    const loaded = await new CheckpointStorage(session, options).loadCheckpoint("cp-1");
    expect(loaded).toMatchObject({ id: "cp-1", sessionId: session });
    expect(loaded.files.map(({ content }) => content)).toEqual(files);
  }
  closeDropIn();
  sandbox.ok("restore", "s1/cp-1", "--yes");
  expect([sandbox.read("a.ts"), sandbox.read("new.ts"), sandbox.read("b.ts")]).toEqual([
    "x\n",
    undefined,
    "b\n",
  ]);
  expect(readFileSync(sandbox.path("logo.bin"))).toEqual(binary);
  sandbox.ok("restore", "good", "--yes");
  expect([sandbox.read("a.ts"), sandbox.read("b.ts")]).toEqual(["x\n", "b then\n"]);
  expect(place.import(sandbox, [place.directory, "--into", "."])).toMatchObject({
    checkpoints: 3,
    alreadyThere: 3,
  });
});

test("[N1] what is damaged or elsewhere is named; without --into nothing is imported", () => {
  checkpoint("s1", "cp-1", {}, [
    saved("s1", "a.ts", Buffer.from("x\n")),
    saved("s1", "lost.ts", Buffer.from("lost\n")),
    saved("s1", "altered.ts", Buffer.from("altered\n")),
    saved("s1", "/etc/passwd", Buffer.from("y\n")),
    saved("s1", "../up.ts", Buffer.from("z\n")),
  ]);
  rmSync(place.path(`checkpoints/s1/blobs/${sha256("lost\n")}`));
  place.write(`checkpoints/s1/blobs/${sha256("altered\n")}`, "other\n");
  place.write("checkpoints/s1/cp-2.meta.json", '{"id": "cp-');
  const none = place.import(sandbox, [place.directory], 3);
  expect(none).toMatchObject({ checkpoints: 0, workspace: null });
  expect(none.skipped.at(-1)).toEqual({
    what: "s1",
    reason: "the data does not say where the files belong; name the workspace with --into",
  });
  const { skipped } = place.import(sandbox, [place.directory, "--into", "."], 3);
  expect(skipped).toEqual([
    { what: "cp-2.meta.json", reason: "it is not valid JSON" },
    { what: "/etc/passwd", reason: "it is elsewhere" },
    { what: "../up.ts", reason: "it leads out of the workspace" },
    { what: "cp-1: lost.ts", reason: "it is missing" },
    { what: "cp-1: altered.ts", reason: "its content is damaged" },
  ]);
  sandbox.ok("restore", "cp-1", "--yes");
  expect(sandbox.read("a.ts")).toBe("x\n");
});
