/** The supervisor's API as its document writes it, over HTTP against a real process. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { statSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

const open = async (project: ServedProject): Promise<string> =>
  (await project.ok<{ id: string }>("POST", "/api/sessions", { title: "s" })).id;
const base = (session: string) => `/api/sessions/${session}/checkpoints`;
const git = (project: ServedProject, ...args: string[]) =>
  execFileSync("git", ["-c", "user.name=t", "-c", "user.email=t@t", ...args], { cwd: project.project });

describe("checkpoints of a session", () => {
  test(
    "[Y05] [Y31] [Y35] [Y36] [Y39] [Y42] [Y53] [Y54] manual ones are made and listed, without reading contents",
    served(async (project) => {
      const session = await open(project);
      const { checkpoint } = await project.ok("POST", base(session), {
        name: "stop",
        annotation: "all green",
      });
      expect(checkpoint).toMatchObject({
        sessionId: session,
        type: "manual",
        name: "stop",
        annotation: "all green",
      });
      const { checkpoints } = await project.ok("GET", base(session));
      expect(checkpoints.map(({ type }: { type: string }) => type)).toEqual(["manual", "auto"]);
      expect(checkpoints[0]).toMatchObject({
        id: checkpoint.id,
        createdAt: expect.any(String),
        sizeBytes: 4,
      });
      expect(checkpoints[0]).not.toHaveProperty("files");
    }),
  );

  test(
    "[Y04] [Y09] a manual one has every tracked file, git's state and its place in the conversation, and is its session's",
    served(
      async (project) => {
        project.write(".gitignore", "*.gen\n");
        git(project, "init", "-q", "-b", "main");
        git(project, "add", "-f", ".");
        git(project, "commit", "-qm", "first");
        const [session, other] = [await open(project), await open(project)];
        await project.ok("POST", `/api/threads/${session}/messages`, { content: "go" });
        const { messages } = await project.ok("GET", `/api/threads/${session}/messages`);
        const { checkpoint } = await project.ok("POST", base(session), { name: "stop" });
        expect(checkpoint).toMatchObject({
          sessionId: session,
          messageIndex: messages.at(-1).index,
          git: { branch: "main", commitHash: git(project, "rev-parse", "HEAD").toString().trim() },
        });
        const elsewhere = (await project.ok("GET", base(other))).checkpoints;
        expect(elsewhere.map(({ id }: { id: string }) => id)).not.toContain(checkpoint.id);
        // what git tracks although it is ignored, and what no tool named
        for (const path of ["a.txt", "tracked.gen", "deep/b.txt"]) project.remove(path);
        await project.ok("POST", `${base(session)}/${checkpoint.id}/rollback`, {});
        expect(["a.txt", "tracked.gen", "deep/b.txt"].map((path) => project.read(path))).toEqual([
          "a",
          "t",
          "b",
        ]);
      },
      { "a.txt": "a", "tracked.gen": "t", "deep/b.txt": "b" },
    ),
  );

  test(
    "[Y02] [Y37] [Y44] [Y55] details hold the affected files with content, encoding, mode and hash; absent is null",
    served(
      async (project) => {
        const session = await open(project);
        const { checkpoint } = await project.ok("POST", base(session), {});
        project.write("a.txt", "two\n");
        project.write("new.txt", "new");
        project.write("bin", Buffer.from([9, 0, 9]));
        const details = (await project.ok("GET", `${base(session)}/${checkpoint.id}`)).checkpoint;
        expect(details.files).toMatchObject([
          {
            path: "a.txt",
            content: "one\n",
            encoding: "utf-8",
            mode: 0o644,
            hash: expect.stringMatching(/^[0-9a-f]{64}$/),
          },
          { path: "bin", content: Buffer.from([1, 0, 2]).toString("base64"), encoding: "base64" },
          { path: "new.txt", content: null },
        ]);
      },
      { "a.txt": "one\n", bin: Buffer.from([1, 0, 2]) },
    ),
  );

  test(
    "[Y16] [Y38] [Y51] [Y72] git's state is recorded by reading, shown, and warned about; git itself is untouched",
    served(async (project) => {
      git(project, "init", "-q", "-b", "main");
      git(project, "add", "a.txt");
      git(project, "commit", "-qm", "first");
      project.write("b.txt", "staged\n");
      git(project, "add", "b.txt");
      const head = git(project, "rev-parse", "HEAD").toString().trim();
      const session = await open(project);
      const { checkpoint } = await project.ok("POST", base(session), {});
      expect(checkpoint.git).toEqual({
        branch: "main",
        commitHash: head,
        hasUncommittedChanges: true,
        stagedFiles: ["b.txt"],
      });
      project.write("a.txt", "two\n");
      const status = git(project, "status", "--porcelain").toString();
      const preview = await project.ok("GET", `${base(session)}/${checkpoint.id}/rollback/preview`);
      expect(preview.warnings.join(" ")).toMatch(/git/i);
      expect(git(project, "status", "--porcelain").toString()).toBe(status);
      await project.ok("POST", `${base(session)}/${checkpoint.id}/rollback`, {});
      expect(git(project, "rev-parse", "HEAD").toString().trim()).toBe(head);
      expect(git(project, "diff", "--cached", "--name-only").toString()).toBe("b.txt\n");
    }),
  );

  test(
    "[Y26] [Y27] [Y29] [Y56] annotations can be added to any checkpoint and found again",
    served(async (project) => {
      const session = await open(project);
      const [initial] = (await project.ok("GET", base(session))).checkpoints;
      const updated = await project.ok("PUT", `${base(session)}/${initial.id}`, { annotation: "known good" });
      expect(updated.checkpoint.annotation).toBe("known good");
      const { checkpoints } = await project.ok("GET", "/api/search?q=known%20good");
      expect(checkpoints.map(({ id }: { id: string }) => id)).toEqual([initial.id]);
    }),
  );

  test(
    "[Y12] [Y70] the 51st manual checkpoint of a session is refused under the supervisor's policy",
    served(async (project) => {
      await project.ok("PUT", "/api/settings", { key: "retention.policy", value: "supervisor" });
      const session = await open(project);
      for (let index = 0; index < 50; index += 1) await project.ok("POST", base(session), {});
      const refused = await project.call("POST", base(session), {});
      expect(refused.status).toBe(409);
      expect(refused.body.error.message).toMatch(/50/);
    }),
  );

  test(
    "[Y57] a deleted one is gone from the list; files are untouched",
    served(async (project) => {
      const session = await open(project);
      const { checkpoint } = await project.ok("POST", base(session), { name: "x" });
      await project.ok("DELETE", `${base(session)}/${checkpoint.id}`);
      const { checkpoints } = await project.ok("GET", base(session));
      expect(checkpoints.map(({ id }: { id: string }) => id)).not.toContain(checkpoint.id);
      expect(project.read("a.txt")).toBe("one\n");
    }),
  );
});

describe("comparing and going back", () => {
  test(
    "[Y58] [Y59] differences with the present state and with each other",
    served(async (project) => {
      const session = await open(project);
      const one = (await project.ok("POST", base(session), {})).checkpoint.id;
      project.write("a.txt", "two\n");
      const two = (await project.ok("POST", base(session), {})).checkpoint.id;
      project.write("a.txt", "three\n");
      const present = await project.ok("GET", `${base(session)}/${one}/diff`);
      expect(present.files[0].diff).toContain("+three");
      const between = await project.ok("GET", `${base(session)}/${one}/diff/${two}`);
      expect(between.files[0].diff).toContain("+two");
      expect(between.summary).toMatchObject({ modified: 1, linesAdded: 1, linesDeleted: 1 });
    }),
  );

  test(
    "[Y14] [Y15] [Y19] [Y33] [Y40] [Y41] [Y50] [Y60] [Y61] [Y71] the preview says what the rollback then does, exactly",
    served(
      async (project) => {
        const session = await open(project);
        const { checkpoint } = await project.ok("POST", base(session), {});
        project.write("a.txt", "two\n");
        project.remove("gone.txt");
        project.write("new.txt", "n");
        const plan = await project.ok("GET", `${base(session)}/${checkpoint.id}/rollback/preview`);
        expect(plan).toMatchObject({
          checkpointId: checkpoint.id,
          affectedFiles: ["a.txt", "gone.txt", "new.txt"],
          operations: [
            { type: "restore", path: "a.txt", content: "one\n", fromContent: "two\n" },
            { type: "create", path: "gone.txt", content: "g" },
            { type: "delete", path: "new.txt", fromContent: "n" },
          ],
        });
        const outcome = await project.ok("POST", `${base(session)}/${checkpoint.id}/rollback`, {});
        expect(outcome).toMatchObject({ outcome: "applied", created: 1, modified: 1, deleted: 1 });
        expect([project.read("a.txt"), project.read("gone.txt"), project.read("new.txt")]).toEqual([
          "one\n",
          "g",
          undefined,
        ]);
        const { files } = await project.ok("GET", `${base(session)}/${checkpoint.id}/diff`);
        expect(files).toEqual([]);
      },
      { "a.txt": "one\n", "gone.txt": "g" },
    ),
  );

  test(
    "[Y68] [Y69] text, binaries and notebooks; whole or some paths",
    served(
      async (project) => {
        const session = await open(project);
        const { checkpoint } = await project.ok("POST", base(session), {});
        project.write("bin", Buffer.from([255, 0, 255]));
        project.write("n.ipynb", "{}");
        project.write("a.txt", "two\n");
        await project.ok("POST", `${base(session)}/${checkpoint.id}/rollback`, { paths: ["bin"] });
        expect(project.readBytes("bin")).toEqual(Buffer.from([0, 1, 2, 3]));
        expect(project.read("a.txt")).toBe("two\n");
        await project.ok("POST", `${base(session)}/${checkpoint.id}/rollback`, {});
        expect([project.read("n.ipynb"), project.read("a.txt")]).toEqual(['{"cells":[]}', "one\n"]);
      },
      { "a.txt": "one\n", bin: Buffer.from([0, 1, 2, 3]), "n.ipynb": '{"cells":[]}' },
    ),
  );

  test(
    "[Y17] [Y18] messages after the rollback point are marked, kept, and the conversation goes on",
    served(async (project) => {
      const session = await open(project);
      const messages = `/api/threads/${session}/messages`;
      const first = await project.ok("POST", messages, { content: "one" });
      project.write("a.txt", "two\n");
      await project.ok("POST", messages, { content: "two" });
      project.write("a.txt", "three\n");
      await project.ok("POST", `${base(session)}/${first.checkpoint.id}/rollback`, {});
      await project.ok("POST", messages, { content: "instead" });
      const history = (await project.ok("GET", messages)).messages;
      expect(history.map(({ content, rolledBack }: any) => [content, rolledBack])).toEqual([
        ["one", true],
        ["two", true],
        ["instead", false],
      ]);
    }),
  );

  test(
    "[Y01] [Y28] [Y46] [Y47] [Y48] [Y49] a tool call is checkpointed before and after, with what it changed and a description",
    served(async (project) => {
      const session = await open(project);
      await project.ok("POST", `/api/threads/${session}/messages`, { content: "go" });
      const tools = `/api/threads/${session}/tools`;
      for (const [tool, id] of [
        ["Edit", "t1"],
        ["Write", "t2"],
        ["Bash", "t3"],
        ["NotebookEdit", "t4"],
      ] as const) {
        const before = await project.ok("POST", tools, {
          phase: "before",
          tool,
          toolUseId: id,
          description: "npm test",
        });
        expect(before.checkpoint).toMatchObject({
          kind: "tool",
          phase: "before",
          tool,
          toolUseId: id,
          description: `Before ${tool}: npm test`,
        });
        project.write(`${id}.txt`, "x");
        const after = await project.ok("POST", tools, { phase: "after", tool, toolUseId: id });
        expect(after.checkpoint).toMatchObject({ phase: "after", changes: { added: 1 } });
      }
    }),
  );

  test(
    "[Y06] automatic checkpoints can be switched off; safety checkpoints stay",
    served(async (project) => {
      await project.ok("PUT", "/api/settings", { key: "checkpoints.automatic", value: "off" });
      const session = await open(project);
      const { checkpoint } = await project.ok("POST", `/api/threads/${session}/messages`, { content: "go" });
      expect(checkpoint).toBeNull();
      const manual = (await project.ok("POST", base(session), {})).checkpoint;
      project.write("a.txt", "two\n");
      const outcome = await project.ok("POST", `${base(session)}/${manual.id}/rollback`, {});
      expect(outcome.safetyCheckpoint).toEqual(expect.any(String));
    }),
  );
});

describe("what is kept, and how much of it", () => {
  test(
    "[A56] [A65] [Y32] [Y43] every checkpoint is whole, equal content is stored once, and the use is shown with its cap",
    served(
      async (project) => {
        const session = await open(project);
        const before = await project.ok("GET", "/api/storage");
        const first = (await project.ok("POST", base(session), {})).checkpoint.id;
        for (let index = 0; index < 5; index += 1)
          project.write(`copy-${index}.bin`, project.readBytes("large.bin"));
        await project.ok("POST", base(session), {});
        const after = await project.ok("GET", "/api/storage");
        expect(after.bytes - before.bytes).toBeLessThan(100_000);
        expect(after.capBytes).toBeGreaterThan(after.bytes);
        project.remove("large.bin");
        await project.ok("POST", `${base(session)}/${first}/rollback`, {});
        expect(statSync(project.path("large.bin")).size).toBe(500_000);
      },
      { "large.bin": randomBytes(500_000) },
    ),
  );

  test(
    "[Y45] pruning keeps manual and recent ones, and says what would go",
    served(async (project) => {
      const session = await open(project);
      const manual = (await project.ok("POST", base(session), { name: "mine" })).checkpoint.id;
      const { pruned, kept } = await project.ok("POST", "/api/prune", { dryRun: true });
      expect(pruned).toEqual([]);
      expect(kept).toBeGreaterThan(1);
      await project.ok("POST", "/api/prune", {});
      const { checkpoints } = await project.ok("GET", base(session));
      expect(checkpoints.map(({ id }: { id: string }) => id)).toContain(manual);
    }),
  );

  test(
    "[Y34] the process watches: a capture has what changed since the last one",
    served(async (project) => {
      const session = await open(project);
      const { watching } = await project.ok("GET", "/api/status");
      expect(watching).toMatchObject({ state: "live", reason: null });
      project.write("deep/new/file.txt", "x");
      project.write("a.txt", "two\n");
      const { checkpoint } = await project.ok("POST", base(session), {});
      const { files } = await project.ok("GET", `/api/threads/${session}/checkpoints/${checkpoint.id}`);
      expect(files.map(({ path }: { path: string }) => path)).toEqual(["a.txt", "deep/new/file.txt"]);
    }),
  );

  test(
    "[Y52] a rollback that cannot be done whole is not done at all",
    served(async (project) => {
      const session = await open(project);
      const { checkpoint } = await project.ok("POST", base(session), {});
      project.write("a.txt", "two\n");
      project.write("keep/new.txt", "x");
      execFileSync("chattr", ["+i", project.path("a.txt")]);
      try {
        const refused = await project.call("POST", `${base(session)}/${checkpoint.id}/rollback`, {});
        expect(refused.status).toBe(409);
        expect([project.read("a.txt"), project.read("keep/new.txt")]).toEqual(["two\n", "x"]);
      } finally {
        execFileSync("chattr", ["-i", project.path("a.txt")]);
      }
    }),
  );

  test(
    "[A61] the process writes structured lines to its log",
    served(async (project) => {
      await open(project);
      const lines = project
        .log()
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      expect(lines.map(({ message }) => message)).toEqual(["started", "workspace opened"]);
      expect(lines[1]).toMatchObject({ level: "info", path: project.project, state: "live" });
    }),
  );
});
