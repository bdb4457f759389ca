/** Forgetting: the content of a path or a checkpoint is in no file of the store any more, and everything else restores. */
import { randomBytes } from "node:crypto";
import { closeSync, openSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { RETENTION_PRESETS, type Workspace } from "../src/index.ts";
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
      await workspace.turns.run({ prompt: "replace" }, async () => project.write("keys/secret.bin", secret));
      await workspace.upkeep.gc();
      await workspace.checkpoint({ name: "newer" });
      expect([secret, older].map((marker) => holds(project, marker))).toEqual([true, true]);
      expect(await workspace.upkeep.forget("keys/secret.bin", { dryRun: true })).toMatchObject({
        dryRun: true,
        checkpoints: expect.arrayContaining([]) as unknown,
      });
      project.remove("keys/secret.bin");
      const report = await workspace.upkeep.forget("keys/secret.bin");
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
    "[R15, R110] a path that a restore replaced while a program has it open: its content is gone all the same",
    inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
      const secret = makeSecret();
      project.write("secret.log", "harmless");
      await workspace.checkpoint({ name: "harmless" });
      project.write("secret.log", secret);
      const descriptor = openSync(join(project.root, "secret.log"), "a");
      await workspace.restoreTo("harmless");
      await workspace.upkeep.forget("secret.log");
      expect(holds(project, secret)).toBe(false);
      closeSync(descriptor);
      await workspace.checkpoint();
      expect(holds(project, secret)).toBe(false);
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
      await workspace.upkeep.forget("private");
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
      expect(await workspace.upkeep.forget(checkpoint.id)).toMatchObject({ checkpoints: [checkpoint.id] });
      expect(holds(project, secret)).toBe(false);
      await expect(workspace.resolve("secret")).rejects.toMatchObject({ code: "CHECKPOINT_NOT_FOUND" });
      await workspace.restoreTo("1");
      expect(project.read("a.bin")).toBe("1");
      await workspace.restoreTo("after");
      expect(project.read("a.bin")).toBe("3");
    }),
  );

  test.for([1, 2, 4, 30])(
    "[R15] content whose pages moved about since: the store has grown and, every %i checkpoints, been repacked",
    (every) =>
      inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
        const secret = makeSecret();
        project.write("secret.bin", secret);
        await workspace.checkpoint();
        for (let index = 0; index < 30; index += 1) {
          project.write("noise.bin", randomBytes(300 * KIB));
          await workspace.checkpoint({ kind: index % 3 === 0 ? "manual" : "tool" });
          if (index % every === every - 1 && every !== 30) {
            await workspace.upkeep.prune({ policy: RETENTION_PRESETS["mimir"]! });
            project.clockMs += 25 * 3_600_000;
            await workspace.upkeep.gc();
          }
        }
        expect(holds(project, secret)).toBe(true);
        await workspace.upkeep.forget("secret.bin");
        expect(holds(project, secret)).toBe(false);
      })(),
  );

  // waits for the reader as long as for any lock
  test.skipIf(process.env["BELAY_HEAVY"] !== "1")(
    "while another process reads the store: the content is gone, or forget says that it is not",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      const secret = makeSecret();
      project.write("secret.bin", secret);
      await workspace.checkpoint();
      const reader = new DatabaseSync(join(project.storeDirectory(), "store.db"), { readOnly: true });
      reader.exec("BEGIN; SELECT count(*) FROM object");
      const error = await workspace.upkeep.forget("secret.bin").then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (error === undefined) expect(holds(project, secret)).toBe(false);
      else expect(error).toMatchObject({ code: "STORE_BUSY" });
      reader.close();
      if (error !== undefined) await workspace.upkeep.forget("secret.bin").catch(() => workspace.upkeep.gc());
      expect(holds(project, secret)).toBe(false);
    }),
  );

  test(
    "[R166] a path: other paths with the same bytes are named, and forgotten too when asked for",
    inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
      const secret = makeSecret();
      for (const path of ["secret.bin", "copies/of it.bin", "old.bin"]) project.write(path, secret);
      for (const path of ["empty", "other-empty"]) project.write(path, "");
      await workspace.checkpoint({ name: "with" });
      project.remove("old.bin");
      project.write("secret.bin", "changed");
      await workspace.checkpoint();
      const preview = await workspace.upkeep.forget("secret.bin", { dryRun: true });
      expect(preview.sameContent).toEqual(["copies/of it.bin", "old.bin"]);
      expect((await workspace.upkeep.forget("empty", { dryRun: true })).sameContent).toEqual([]);
      await workspace.upkeep.forget("secret.bin");
      expect(holds(project, secret)).toBe(true);
      await workspace.upkeep.forget("copies/of it.bin", { sameContent: true });
      expect(holds(project, secret)).toBe(false);
      project.remove("keep.txt");
      await workspace.restoreTo("with");
      expect(project.read("keep.txt")).toBe("keep");
    }),
  );

  describe("words", () => {
    const words = (what: string) => `${what} ${randomBytes(12).toString("hex")}`;

    /** A conversation in which each thing said is unlike all others. */
    async function converse(project: Project, workspace: Workspace) {
      const said = {
        title: words("title"),
        prompt: words("prompt") + " long ".repeat(2000) + words("end"),
        answer: words("answer"),
        command: words("command"),
        role: words("role"),
        artifact: words("artifact"),
        approval: words("approval"),
        second: words("second"),
      };
      const thread = (await workspace.threads.open({ agent: "a", externalId: "forgettable" })).id;
      await workspace.threads.update(thread, { title: said.title });
      const { message } = await workspace.turns.prompt(thread, {
        content: said.prompt,
        artifacts: [{ text: said.artifact }],
      });
      await workspace.turns.beginTool(thread, { tool: "Bash", toolUseId: "t1", summary: said.command });
      project.write("a.txt", "by the tool");
      await workspace.turns.endTool(thread, { toolUseId: "t1" });
      await workspace.turns.beginAgent(thread, { id: "sub", role: said.role });
      await workspace.turns.endAgent(thread, { id: "sub" });
      await workspace.threads.addMessage(thread, { role: "assistant", content: said.answer });
      await workspace.turns.end(thread);
      await workspace.undo();
      await workspace.redo();
      await workspace.approvals.approve(thread, { message: said.approval });
      await workspace.restoreTo("1");
      await workspace.turns.prompt(thread, { content: said.second });
      await workspace.turns.end(thread);
      return { thread, said, message };
    }

    const found = (project: Project, said: Record<string, string>) => {
      const files = readdirSync(project.home, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map((each) => readFileSync(join(each.parentPath, each.name)));
      // the beginning and the end of each
      const isFound = (text: string) =>
        [text.slice(0, 24), text.slice(-24)].some((part) => files.some((bytes) => bytes.includes(part)));
      return Object.keys(said).filter((key) => isFound(said[key]!));
    };

    test.for(["forget", "delete"] as const)(
      "[R165] of a conversation (%s): no byte of what was said is left, and the store is sound",
      (way) =>
        inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
          const { thread, said } = await converse(project, workspace);
          const kept = words("kept");
          const other = (await workspace.threads.open({ agent: "b", externalId: "kept" })).id;
          await workspace.turns.prompt(other, { content: kept });
          await workspace.turns.end(other);
          expect(found(project, said)).toEqual(Object.keys(said));
          const preview = await workspace.threads.forget(thread, { dryRun: true });
          expect(preview).toMatchObject({ messages: 3, steps: 2, dryRun: true });
          expect(found(project, said)).toEqual(Object.keys(said));
          const before = (await workspace.list()).map(({ id, snapshot }) => [id, snapshot]);
          if (way === "delete") await workspace.threads.delete(thread);
          else expect(await workspace.threads.forget(thread)).toEqual({ ...preview, dryRun: false });
          expect(found(project, said)).toEqual([]);
          expect(found(project, { kept })).toEqual(["kept"]);
          expect((await workspace.list()).map(({ id, snapshot }) => [id, snapshot])).toEqual(before);
          expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
          const [newest] = (await workspace.threads.history(thread)).messages.slice(-1);
          expect(newest).toMatchObject({ content: "[forgotten]", artifacts: [] });
          // an undo of what is forgotten still works
          await workspace.undo({ thread });
        })(),
    );

    test(
      "[R165] of a run: its role and everything else that its agent was told",
      inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
        const said = {
          prompt: words("prompt"),
          command: words("command"),
          reason: words("reason"),
          role: words("role"),
        };
        const limits = { timeoutMs: null, maxCost: null, maxTokens: null };
        const { prompt, role, reason } = said;
        const { id } = await workspace.runs.add({
          agent: "a",
          role,
          command: [said.command],
          prompt,
          limits,
        });
        await workspace.runs.begin(id, { stdout: "out", stderr: "err" });
        const told = { exitCode: 1, signal: null, cost: null, tokens: null, session: null, truncated: false };
        const { thread } = await workspace.runs.end(id, { status: "failed", reason, ...told });
        expect(found(project, said)).toEqual(Object.keys(said));
        await workspace.threads.forget(thread!);
        expect(found(project, said)).toEqual([]);
        expect(await workspace.upkeep.verify({ full: true })).toMatchObject({ ok: true, problems: [] });
      }),
    );

    test(
      "[R165] of a message whose checkpoint is a version: the version says nothing of it either",
      inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
        const said = { prompt: words("prompt") };
        const thread = (await workspace.threads.open({ agent: "a", externalId: "forgettable" })).id;
        const { checkpoint } = await workspace.turns.prompt(thread, { content: said.prompt });
        await workspace.turns.end(thread);
        const { id } = await workspace.versions.create({ checkpoint: checkpoint!.id, name: "kept" });
        expect(found(project, said)).toEqual(["prompt"]);
        await workspace.threads.forget(thread);
        expect(found(project, said)).toEqual([]);
        expect(await workspace.versions.list()).toMatchObject([{ id, name: "kept" }]);
      }),
    );

    test(
      "[R165] of one message: it and its turn, and nothing else",
      inProtected({ "keep.txt": "keep" }, async (project, workspace) => {
        const { said, message } = await converse(project, workspace);
        await workspace.threads.forgetMessage(message.id);
        expect(found(project, said)).toEqual(["title", "approval", "second"]);
        await expect(workspace.threads.forgetMessage("nothing")).rejects.toMatchObject({
          code: "MESSAGE_NOT_FOUND",
        });
      }),
    );
  });

  test(
    "nothing, or what is not there, is refused",
    inProtected({ "a.txt": "1" }, async (project, workspace) => {
      for (const target of ["missing.txt", "", ".", "../x"]) {
        await expect(workspace.upkeep.forget(target), target).rejects.toMatchObject({
          code: expect.stringMatching(/CHECKPOINT_NOT_FOUND|PATH_OUTSIDE/) as unknown,
        });
      }
      writeFileSync(join(project.root, "a.txt"), "2");
      await workspace.restoreTo("1");
      expect(project.read("a.txt")).toBe("1");
    }),
  );
});
