/** Merges over HTTP. */
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
