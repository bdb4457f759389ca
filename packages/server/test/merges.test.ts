/** Merges over HTTP. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { served } from "./support/served-project.ts";
test(
  "[R95] [R238] a merge of many files is carried out by another process, and recorded whole",
  served(async (project) => {
    await project.ok("POST", "/api/branches", { name: "f" });
    await project.ok("POST", "/api/branches/f/switch", {
      planId: (await project.ok("GET", "/api/branches/f/switch/preview")).plan.id,
    });
    for (let i = 0; i < 600; i++) project.write(`n/${i}.txt`, `${i}\n`);
    const back = await project.ok("GET", "/api/branches/main/switch/preview");
    await project.ok("POST", "/api/branches/main/switch", { planId: back.plan.id });
    expect(project.read("n/5.txt")).toBeUndefined();
    const planned = await project.ok("POST", "/api/merges", { sources: ["f"] });
    const done = await project.ok("POST", `/api/merges/${planned.merge.id}/apply`, {
      planId: planned.plan.id,
    });
    expect(done).toMatchObject({ outcome: "applied", state: "applied", created: 600 });
    expect(project.read("n/5.txt")).toBe("5\n");
  }),
);

test(
  "[R821] trying a decision out records nothing, and says what deciding so comes to",
  served(
    async (project) => {
      const go = async (name: string) =>
        project.ok("POST", `/api/branches/${name}/switch`, {
          planId: (await project.ok("GET", `/api/branches/${name}/switch/preview`)).plan.id,
        });
      await project.ok("POST", "/api/branches", { name: "f" });
      await go("f");
      project.write("a.ts", "const a = 2;\n1\n2\n3\n4\nconst b = 2;\n");
      await go("main");
      project.write("a.ts", "const a = 3;\n1\n2\n3\n4\nconst b = 3;\n");
      const planned = await project.ok("POST", "/api/merges", { sources: ["f"] });
      const at = `/api/merges/${planned.merge.id}`;
      await project.ok("POST", `${at}/apply`, { planId: planned.plan.id });
      const [conflict] = (await project.ok("GET", `${at}/conflicts`)).conflicts;
      const preview = (body: object) => project.call("POST", `/api/conflicts/${conflict.id}/preview`, body);
      const before = (await project.ok("GET", at)).merge;
      const part = await preview({ regions: { 1: "theirs" } });
      expect(part.body).toMatchObject({ whole: false, files: [], content: null });
      const whole = await preview({ regions: { 1: "theirs", 2: "both" } });
      const text = "const a = 2;\n1\n2\n3\n4\nconst b = 3;\nconst b = 2;\n";
      expect(whole.body).toMatchObject({ whole: true, content: { text } });
      expect(whole.body.files[0]).toMatchObject({ file: { path: "a.ts", linesAdded: 2, linesDeleted: 1 } });
      expect((await preview({ take: "ours" })).body).toMatchObject({ whole: true, files: [] });
      expect((await preview({ content: "<<<<<<< x\n" })).body.warnings[0]).toMatchObject({ check: "marks" });
      for (const body of [{}, { take: "delete" }, { regions: {} }, { regions: { 9: "ours" } }])
        expect((await preview(body)).status, JSON.stringify(body)).toBeGreaterThanOrEqual(400);
      expect((await project.ok("GET", at)).merge).toEqual(before);
      const content = await project.ok("GET", `/api/conflicts/${conflict.id}?content=1`);
      expect(content).toMatchObject({ merger: null, base: { text: expect.stringContaining("const a = 1") } });
      expect(content.marked.text).toContain("<<<<<<< main\nconst a = 3;\n||||||| base\n");
      expect((await project.ok("GET", "/api/merges?state=open")).merges).toHaveLength(1);
      expect((await project.ok("GET", "/api/merges?state=applied")).merges).toEqual([]);
    },
    { "a.ts": "const a = 1;\n1\n2\n3\n4\nconst b = 1;\n" },
  ),
);

test(
  "[R796] [R793] [R100] a check and a merger of the settings run over HTTP only with `runs.http`, and a merge does not go around its check",
  { timeout: 100_000 },
  served(async (project) => {
    const node = (script: string) => [process.execPath, "-e", script];
    const settings = {
      merge: { check: node(`process.exit(require("fs").existsSync("bad.txt") ? 1 : 0)`) },
      agents: {
        mine: {
          command: node(
            `const fs = require("fs"); const { conflicts: [c] } = JSON.parse(fs.readFileSync(process.env.BELAY_TASK));
             fs.writeFileSync(c.path, "1\\n2\\nours\\ntheirs\\n3\\n4\\n");
             fs.writeFileSync(process.env.BELAY_ANSWER, JSON.stringify({ answers: [{ id: c.id, status: "resolved", explanation: "both", dropped: [] }] }));`,
          ),
        },
        roles: { merger: "mine" },
      },
    };
    const configure = (http: boolean) =>
      writeFileSync(join(project.home, "config.json"), JSON.stringify({ ...settings, runs: { http } }));
    project.write("n.txt", "1\n2\n3\n4\n");
    for (const name of ["f", "bad"]) project.belay("branch", name);
    project.belay("switch", "f", "--yes");
    project.write("n.txt", "1\n2\ntheirs\n3\n4\n");
    project.belay("switch", "bad", "--yes");
    project.write("bad.txt", "b\n");
    project.belay("switch", "main", "--yes");
    project.write("n.txt", "1\n2\nours\n3\n4\n");
    configure(false);
    const refused = await project.call("POST", "/api/merges", { sources: ["bad"] });
    expect([refused.status, refused.body.error.code]).toEqual([403, "PROGRAMS_REFUSED"]);
    configure(true);
    const planned = await project.ok("POST", "/api/merges", { sources: ["bad", "f"] });
    expect(planned.merge.conflicts.map(({ kind }: { kind: string }) => kind)).toEqual(["check", "content"]);
    const { id } = planned.merge;
    await project.ok("POST", `/api/merges/${id}/apply`, { planId: planned.plan.id });
    const { conflicts } = await project.ok("GET", `/api/merges/${id}/conflicts`);
    const asked = await project.ok("POST", `/api/merges/${id}/agent`, {});
    expect(asked.merge.conflicts).toMatchObject([
      { kind: "check", state: "open" },
      { path: "n.txt", state: "resolved", resolution: { by: "merger" } },
    ]);
    await project.ok("POST", `/api/conflicts/${conflicts[0].id}/resolve`, { take: "theirs" });
    const rest = await project.ok("POST", `/api/merges/${id}/continue`, {});
    expect(await project.ok("POST", `/api/merges/${id}/apply`, { planId: rest.plan.id })).toMatchObject({
      outcome: "applied",
      state: "applied",
    });
    expect([project.read("bad.txt"), project.read("n.txt")]).toEqual(["b\n", "1\n2\nours\ntheirs\n3\n4\n"]);
  }),
);
