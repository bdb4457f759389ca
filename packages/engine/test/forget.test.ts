/** Forgetting: the content of a path or a checkpoint is in no file of the store any more, and everything else restores. */
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { RETENTION_PRESETS } from "../src/index.ts";
import { inProtected, type Project } from "./support/project.ts";

const KIB = 1024;

describe("forget", () => {
  /** True when any part of the bytes is anywhere in the files of the store. */
  function holds(project: Project, marker: Buffer): boolean {
    const directory = project.storeDirectory();
    const parts = Array.from({ length: marker.length / KIB }, (_, k) =>
      marker.subarray(k * KIB, k * KIB + 32),
    );
    return readdirSync(directory).some((name) => {
      const bytes = readFileSync(join(directory, name));
      return parts.some((part) => bytes.includes(part));
    });
  }

  const makeSecret = () => randomBytes(40 * KIB);

  test(
    "[R15] a path: its content is in no file of the store any more, and everything else restores",
    inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
      const [secret, older] = [makeSecret(), makeSecret()];
      project.write("keys/secret.bin", older);
      project.write("keys/other.txt", "other");
      await workspace.checkpoint({ name: "older" });
      await workspace.turn({ prompt: "replace" }, async () => project.write("keys/secret.bin", secret));
      await workspace.gc();
      await workspace.checkpoint({ name: "newer" });
      expect([secret, older].map((marker) => holds(project, marker))).toEqual([true, true]);
      expect(await workspace.forget("keys/secret.bin", { dryRun: true })).toMatchObject({
        dryRun: true,
        checkpoints: expect.arrayContaining([]) as unknown,
      });
      project.remove("keys/secret.bin");
      const report = await workspace.forget("keys/secret.bin");
      expect(report.checkpoints.length).toBeGreaterThanOrEqual(4);
      expect([secret, older].map((marker) => holds(project, marker))).toEqual([false, false]);
      project.write("keys/secret.bin", "mine");
      project.write("keep.txt", "changed");
      const outcome = await workspace.restoreTo("newer");
      expect(outcome.kept).toContainEqual({ path: "keys/secret.bin", reason: "the target has a gap here" });
      expect([
        project.read("keep.txt"),
        project.read("keys/other.txt"),
        project.read("keys/secret.bin"),
      ]).toEqual(["keep", "other", "mine"]);
    }),
  );

  test(
    "a directory, a large file of many pieces, and content that another path still has",
    inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
      const [small, shared] = [makeSecret(), makeSecret()];
      const large = randomBytes(2500 * KIB);
      project.write("private/small.bin", small);
      project.write("private/deep/large.bin", large);
      project.write("private/shared.bin", shared);
      project.write("public/shared.bin", shared);
      await workspace.checkpoint({ name: "with" });
      await workspace.forget("private");
      expect([small, large, shared].map((marker) => holds(project, marker))).toEqual([false, false, true]);
      expect((await workspace.show("with")).gaps).toEqual([
        { path: "private", reason: "forgotten", size: 0 },
      ]);
      project.remove("public");
      await workspace.restoreTo("with", { paths: ["public"] });
      expect(readFileSync(join(project.root, "public/shared.bin")).equals(shared)).toBe(true);
    }),
  );

  test(
    "a checkpoint: what only it had is gone, its neighbours are as they were",
    inProtected({ "a.bin": "1" }, async (project, workspace) => {
      const secret = makeSecret();
      project.write("a.bin", secret);
      const { checkpoint } = await workspace.checkpoint({ name: "secret" });
      project.write("a.bin", "3");
      await workspace.checkpoint({ name: "after" });
      expect(await workspace.forget(checkpoint.id)).toMatchObject({ checkpoints: [checkpoint.id] });
      expect(holds(project, secret)).toBe(false);
      await expect(workspace.resolve("secret")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      await workspace.restoreTo("1");
      expect(project.read("a.bin")).toBe("1");
      await workspace.restoreTo("after");
      expect(project.read("a.bin")).toBe("3");
    }),
  );

  test.for([1, 2, 4, 30])(
    "[R15] content whose pages moved about since: the store has grown and, every %i checkpoints, been packed anew",
    (every) =>
      inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
        const secret = makeSecret();
        project.write("secret.bin", secret);
        await workspace.checkpoint();
        for (let index = 0; index < 30; index += 1) {
          project.write("noise.bin", randomBytes(300 * KIB));
          await workspace.checkpoint({ kind: index % 3 === 0 ? "manual" : "tool" });
          if (index % every === every - 1 && every !== 30) {
            await workspace.prune({ policy: RETENTION_PRESETS["mimir"]! });
            project.clockMs += 25 * 3_600_000;
            await workspace.gc();
          }
        }
        expect(holds(project, secret)).toBe(true);
        await workspace.forget("secret.bin");
        expect(holds(project, secret)).toBe(false);
      })(),
  );

  // waits for the reader as long as for any lock
  test.skipIf(process.env["BELAY_HEAVY"] !== "1")(
    "while another process reads the store: the content is gone, or forget says that it is not",
    { timeout: 60_000 },
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      const secret = makeSecret();
      project.write("secret.bin", secret);
      await workspace.checkpoint();
      const reader = new DatabaseSync(join(project.storeDirectory(), "store.db"), { readOnly: true });
      reader.exec("BEGIN; SELECT count(*) FROM object");
      const error = await workspace.forget("secret.bin").then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) expect(holds(project, secret)).toBe(false);
      else expect(error).toMatchObject({ code: "STORE_BUSY" });
      reader.close();
      if (error !== undefined) await workspace.forget("secret.bin").catch(() => workspace.gc());
      expect(holds(project, secret)).toBe(false);
    }),
  );

  test(
    "nothing, or what is not there, is refused",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      for (const target of ["missing.txt", "", ".", "../x"]) {
        await expect(workspace.forget(target), target).rejects.toMatchObject({
          code: expect.stringMatching(/CHECKPOINT_NOT_FOUND|PATH_OUTSIDE/) as unknown,
        });
      }
      writeFileSync(join(project.root, "a.txt"), "2");
      await workspace.restoreTo("1");
      expect(project.read("a.txt")).toBe("1");
    }),
  );
});
