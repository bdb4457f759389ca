/** Upkeep over HTTP: annotations, pruning and its undo; and what another process does, so that this one goes on serving. */
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { served } from "./support/served-project.ts";

describe("annotations over HTTP", () => {
  test(
    "[Y27] name, note and tags change together or not at all, and are found",
    served(async (project) => {
      const { checkpoint: first } = await project.ok("POST", "/api/checkpoints", { tags: ["taken"] });
      const { checkpoint } = await project.ok("POST", "/api/checkpoints", { tags: ["old", "stays"] });
      const at = `/api/checkpoints/${checkpoint.id}`;
      const refused = await project.call("PUT", at, { name: "new name", tags: ["taken"] });
      expect(refused).toMatchObject({
        status: 409,
        body: { error: { code: "NAME_TAKEN", checkpoint: first.id } },
      });
      expect((await project.ok("GET", "/api/checkpoints")).checkpoints[0]).toMatchObject({
        name: null,
        tags: ["old", "stays"],
      });
      const change = { name: "new name", annotation: "about ropes", tags: ["stays", "fresh"] };
      expect((await project.ok("PUT", at, change)).checkpoint).toMatchObject({
        name: "new name",
        note: "about ropes",
        tags: ["fresh", "stays"],
      });
      for (const word of ["new name", "ropes", "fresh"]) {
        const { checkpoints } = await project.ok("GET", `/api/search?q=${encodeURIComponent(word)}`);
        expect(checkpoints.map(({ id }: { id: string }) => id)).toEqual([checkpoint.id]);
      }
      await project.ok("PUT", at, { name: "", annotation: "", tags: [] });
      expect((await project.ok("GET", "/api/search?q=ropes")).checkpoints).toEqual([]);
    }),
  );
});

describe("upkeep over HTTP", () => {
  test(
    "[L38] [Y67] a dropped checkpoint comes back; after its day gc frees it",
    served(async (project) => {
      project.write("a.txt", "only here\n");
      const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
      project.write("a.txt", "one\n");
      await project.ok("POST", "/api/checkpoints", {});
      const listed = async () =>
        (await project.ok("GET", "/api/checkpoints")).checkpoints.map(({ seq }: any) => seq);
      await project.ok("DELETE", `/api/checkpoints/${checkpoint.id}`);
      expect(await listed()).toEqual([3, 1]);
      const { restored } = await project.ok("POST", "/api/prune/undo", {});
      expect(restored.map(({ id }: any) => id)).toEqual([checkpoint.id]);
      expect(await listed()).toEqual([3, 2, 1]);
      await project.ok("DELETE", `/api/checkpoints/${checkpoint.id}`);
      using store = new DatabaseSync(project.store());
      store.exec("UPDATE checkpoint SET pruned_at = 1 WHERE pruned_at IS NOT NULL");
      expect(await project.ok("POST", "/api/gc", { dryRun: true })).toMatchObject({
        dryRun: true,
        checkpointsDropped: 1,
      });
      expect(await project.ok("POST", "/api/gc", {})).toMatchObject({ dryRun: false, checkpointsDropped: 1 });
      expect((await project.ok("POST", "/api/prune/undo", {})).restored).toEqual([]);
      expect(await project.ok("POST", "/api/verify", { full: true })).toMatchObject({
        ok: true,
        checkpoints: 2,
      });
    }),
  );

  test(
    "[R242] while a store is verified its process goes on serving, and the same question is answered once",
    served(async (project) => {
      const order: string[] = [];
      const note = (word: string) => (answer: any) => {
        order.push(word);
        return answer;
      };
      const first = project.ok("POST", "/api/verify", { full: true }).then(note("verified"));
      const second = project.ok("POST", "/api/verify", { full: true }).then(note("verified"));
      // a command takes longer to start than the process to answer
      await project.ok("GET", "/api/resident").then(note("served"));
      const { running } = await project.ok("GET", "/api/verify");
      await project.ok("POST", "/api/checkpoints", {}).then(note("captured"));
      expect(running).toMatchObject({ done: expect.any(Number) });
      const reports = await Promise.all([first, second]);
      expect(order).toEqual(["served", "captured", "verified", "verified"]);
      expect(reports[0]).toEqual(reports[1]);
      expect(await project.ok("GET", "/api/verify")).toEqual({ running: null });
    }),
  );

  test(
    "[R242] damage is a report, and what a command refuses is its error",
    served(async (project) => {
      const unknown = await project.call("POST", "/api/forget", { path: "never", confirm: "forget" });
      expect(unknown).toMatchObject({ status: 404, body: { error: { code: "PATH_NOT_IN_CHECKPOINT" } } });
      using store = new DatabaseSync(project.store());
      store.exec("UPDATE checkpoint SET description = 'x', snapshot = zeroblob(32) WHERE seq = 1");
      const report = await project.ok("POST", "/api/verify", {});
      expect(report.ok).toBe(false);
      expect(report.problems.length).toBe(report.problemsTotal);
      expect((await project.ok("GET", "/api/doctor")).ok).toBe(false);
    }),
  );

  test(
    "[R243] nothing is forgotten without the word, and then at once and everywhere",
    served(async (project) => {
      project.write("secret.env", "KEY=1\n");
      const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
      const ask = (body: object) => project.call("POST", "/api/forget", { path: "secret.env", ...body });
      expect(await ask({})).toMatchObject({
        status: 409,
        body: { error: { code: "CONFIRMATION_REQUIRED" } },
      });
      expect((await ask({ confirm: "yes" })).status).toBe(400);
      expect((await project.call("POST", "/api/forget", { confirm: "forget" })).status).toBe(400);
      expect((await ask({ dryRun: true })).body).toMatchObject({
        dryRun: true,
        checkpoints: [checkpoint.id],
      });
      const blob = `${project.url}/api/checkpoints/${checkpoint.id}/blob?path=secret.env`;
      const headers = { authorization: `Bearer ${project.token}` };
      expect((await fetch(blob, { headers })).status).toBe(200);
      expect((await ask({ confirm: "forget" })).body).toMatchObject({
        dryRun: false,
        checkpoints: [checkpoint.id],
      });
      expect((await fetch(blob, { headers })).status).toBe(404);
      expect(project.read("secret.env")).toBe("KEY=1\n");
      const whole = await project.call("POST", "/api/forget", {
        checkpoint: checkpoint.id,
        confirm: "forget",
      });
      expect(whole.status).toBe(200);
      expect(await project.ok("POST", "/api/verify", { full: true })).toMatchObject({ ok: true });
    }),
  );
});
