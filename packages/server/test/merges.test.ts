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
