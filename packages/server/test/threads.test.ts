/** The canonical API: shapes, plans, events, and what it says to bad input. */
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { ROUTES, shapes, type RouteName } from "@belay/protocol";
import { describe, expect, test } from "vitest";
import { standsStillAt, untilStandingStill } from "../../engine/test/support/standing-still.ts";
import { served, type ServedProject } from "./support/served-project.ts";
import { undeclared } from "./support/undeclared-fields.ts";

const open = async (project: ServedProject): Promise<string> =>
  (await project.ok<{ thread: { id: string } }>("POST", "/api/threads", { agent: "test", title: "t" })).thread
    .id;

describe("the table of routes", () => {
  test(
    "every answer has the shape that the table promises, and openapi.json describes it",
    served(async (project) => {
      const thread = await open(project);
      const at = `/api/threads/${thread}`;
      const checked = new Set<string>();
      const check = async (name: RouteName, path: string, body?: unknown) => {
        checked.add(name);
        const route = ROUTES[name];
        const answer = await project.ok(name.split(" ")[0]!, path, body);
        if (!("response" in route)) throw new Error(name);
        expect(route.response.safeParse(answer).error, name).toBeUndefined();
        expect(undeclared(route.response, answer), name).toEqual([]);
        return answer;
      };
      await check("GET /api/threads", "/api/threads");
      await check("POST /api/threads", "/api/threads", { externalId: "x" });
      await check("GET /api/threads/:id", at);
      await check("PATCH /api/threads/:id", at, { title: "new" });
      const began = Date.now();
      const { checkpoint } = await check("POST /api/threads/:id/messages", `${at}/messages`, {
        content: "hi",
      });
      const prompted = Date.now() + 1;
      await check("POST /api/threads/:id/messages", `${at}/messages`, { content: "ok", role: "assistant" });
      project.write("a.txt", "two\n");
      await check("POST /api/threads/:id/tools", `${at}/tools`, {
        phase: "before",
        tool: "Bash",
        toolUseId: "1",
      });
      project.write("b.txt", "b\n");
      await check("POST /api/threads/:id/tools", `${at}/tools`, {
        phase: "after",
        tool: "Bash",
        toolUseId: "1",
      });
      await check("POST /api/threads/:id/stop", `${at}/stop`, {});
      await check("GET /api/threads/:id/messages", `${at}/messages?limit=1`);
      await check("GET /api/threads/:id/timeline", `${at}/timeline`);
      await check("GET /api/threads/:id/checkpoints", `${at}/checkpoints?fresh=1`);
      const taken = await check("POST /api/threads/:id/checkpoints", `${at}/checkpoints`, { name: "n" });
      const cp = `${at}/checkpoints/${checkpoint.id}`;
      await check("GET /api/threads/:id/checkpoints/:cid", `${cp}?content=1`);
      await check("PUT /api/threads/:id/checkpoints/:cid", cp, { annotation: "a" });
      await check("GET /api/threads/:id/checkpoints/:cid/diff", `${cp}/diff`);
      await check("GET /api/threads/:id/checkpoints/:cid/diff/:other", `${cp}/diff/${taken.checkpoint.id}`);
      await check("GET /api/threads/:id/session", `${at}/session?diffs=1`);
      const { sessions } = await check("GET /api/threads/:id/sessions", `${at}/sessions`);
      expect(sessions).toMatchObject([{ name: "session_1", status: "active", closedAt: null }]);
      const { plan: undo, steps } = await check("GET /api/threads/:id/undo/preview", `${at}/undo/preview`);
      expect(Date.parse(steps[0].at)).toBeGreaterThanOrEqual(began);
      expect(Date.parse(steps[0].at)).toBeLessThan(prompted);
      await check("POST /api/threads/:id/undo", `${at}/undo`, { planId: undo.id });
      expect(project.read("b.txt")).toBeUndefined();
      const { plan: redo } = await check("GET /api/threads/:id/redo/preview", `${at}/redo/preview`);
      await check("POST /api/threads/:id/redo", `${at}/redo`, { planId: redo.id });
      expect(project.read("b.txt")).toBe("b\n");
      const { plan } = await check(
        "GET /api/threads/:id/checkpoints/:cid/rollback/preview",
        `${cp}/rollback/preview`,
      );
      await check("POST /api/threads/:id/checkpoints/:cid/rollback", `${cp}/rollback`, { planId: plan.id });
      expect(project.read("a.txt")).toBe("one\n");
      const { plan: back } = await project.ok("GET", `${cp}/rollback/preview`);
      const restore = { checkpointId: checkpoint.id, planId: back.id };
      await check("POST /api/threads/:id/restore", `${at}/restore`, restore);
      const last = (await project.ok("GET", `${at}/checkpoints`)).checkpoints.find(
        ({ kind }: { kind: string }) => kind === "turn",
      );
      const { plan: revert } = await check(
        "GET /api/threads/:id/revert/preview",
        `${at}/revert/preview?checkpoint=${last.id}`,
      );
      await check("POST /api/threads/:id/revert", `${at}/revert`, { planId: revert.id });
      const edit = { paths: ["edited.txt"] };
      const kept = await check("POST /api/threads/:id/edits", `${at}/edits`, edit);
      project.write("edited.txt", "kept\n");
      await check("POST /api/threads/:id/edits/:eid/finalize", `${at}/edits/${kept.edit}/finalize`, {});
      const dropped = await check("POST /api/threads/:id/edits", `${at}/edits`, edit);
      project.write("edited.txt", "dropped\n");
      await check("POST /api/threads/:id/edits/:eid/abort", `${at}/edits/${dropped.edit}/abort`, {});
      expect(project.read("edited.txt")).toBe("kept\n");
      await check("POST /api/threads/:id/approve", `${at}/approve`, { message: "fine" });
      project.write("a.txt", "three\n");
      const { plan: reset } = await check("GET /api/threads/:id/reset/preview", `${at}/reset/preview`);
      await check("POST /api/threads/:id/reset", `${at}/reset`, { planId: reset.id });
      project.write("a.txt", "four\n");
      const restored = { kind: "restore", target: checkpoint.id, thread };
      const { plan: detailed } = await check("POST /api/plans", "/api/plans", restored);
      await check("GET /api/plans/:id/diff", `/api/plans/${detailed.id}/diff?path=a.txt`);
      await check("POST /api/plans/:id/apply", `/api/plans/${detailed.id}/apply`, {});
      const { fork } = await check("POST /api/forks", "/api/forks", { name: "a/fork" });
      expect(fork).toMatchObject({ name: "a/fork", branch: "a/fork", state: "ready", run: null });
      const made = await check("GET /api/forks/:id", "/api/forks/a~fork");
      expect(made.environment).toMatchObject({ BELAY_FORK: "a/fork", BELAY_PORT: String(fork.port) });
      expect(await check("DELETE /api/forks/:id", `/api/forks/${fork.id}`)).toMatchObject({
        branch: { name: "a/fork" },
        warnings: [],
      });
      await check("POST /api/forks/:id/restore", `/api/forks/${fork.id}/restore`, {});
      expect((await check("GET /api/forks", "/api/forks?removed=1")).forks).toMatchObject([
        { state: "ready" },
      ]);
      await project.ok("DELETE", `/api/forks/${fork.id}?now=1`);
      await project.ok("DELETE", "/api/branches/a~fork");
      const both = (first: string, last: string) =>
        project.write("both.txt", `${first}\n2\n3\n4\n5\n${last}\n`);
      both("1", "6");
      await check("POST /api/branches", "/api/branches", { name: "an/idea" });
      project.write("a.txt", "on main\n");
      both("on main", "6");
      const branch = "/api/branches/an~idea";
      const { plan: move } = await check(
        "GET /api/branches/:name/switch/preview",
        `${branch}/switch/preview`,
      );
      await check("POST /api/branches/:name/switch", `${branch}/switch`, { planId: move.id });
      expect(project.read("a.txt")).not.toBe("on main\n");
      await project
        .ok("POST", "/api/plans", { kind: "undo" })
        .then(({ plan: undone }) => project.ok("POST", `/api/plans/${undone.id}/apply`, {}));
      expect(project.read("a.txt")).toBe("on main\n");
      await check("DELETE /api/branches/:name", branch);
      await check("PATCH /api/branches/:name", branch, { state: "open", name: "idea" });
      const { branches } = await check("GET /api/branches", "/api/branches");
      expect(branches).toMatchObject([
        { name: "main", current: true },
        { name: "idea", parent: "main" },
      ]);
      await project.ok("POST", "/api/branches/idea/switch", {
        planId: (await project.ok("GET", "/api/branches/idea/switch/preview")).plan.id,
      });
      project.write("a.txt", "on idea\n");
      project.write("c.txt", "on idea\n");
      both("1", "on idea");
      await project.ok("POST", "/api/branches/main/switch", {
        planId: (await project.ok("GET", "/api/branches/main/switch/preview")).plan.id,
      });
      await check("POST /api/branches/:name/merge", "/api/branches/idea/merge", {});
      const tried = await check("POST /api/merges", "/api/merges", { sources: ["idea"], into: "main" });
      const abandoned = `/api/merges/${tried.merge.id}`;
      await project.ok("POST", `${abandoned}/apply`, { planId: tried.plan.id });
      await check("POST /api/merges/:id/abandon", `${abandoned}/abandon`, {});
      const planned = await project.ok("POST", "/api/merges", { sources: ["idea"] });
      const merge = `/api/merges/${planned.merge.id}`;
      const held = await check("POST /api/merges/:id/apply", `${merge}/apply`, { planId: planned.plan.id });
      expect(held).toMatchObject({ outcome: "conflicts", state: "open", sources: [{ outcome: "held" }] });
      const { conflicts } = await check("GET /api/merges/:id/conflicts", `${merge}/conflicts`);
      const conflict = `/api/conflicts/${conflicts[0].id}`;
      expect(await check("GET /api/conflicts/:id", `${conflict}?content=1`)).toMatchObject({
        conflict: { path: "a.txt", severity: "high" },
        ours: { text: "on main\n" },
        theirs: { text: "on idea\n" },
        proposal: null,
      });
      await check("POST /api/merges/:id/conflicts", `${merge}/conflicts`, { path: "both.txt" });
      await check("POST /api/conflicts/:id/preview", `${conflict}/preview`, { take: "theirs" });
      await check("POST /api/conflicts/:id/resolve", `${conflict}/resolve`, { take: "ours" });
      await check("POST /api/conflicts/:id/reopen", `${conflict}/reopen`, {});
      await project.ok("POST", `${conflict}/resolve`, { content: "of both\n" });
      const rest = await check("POST /api/merges/:id/continue", `${merge}/continue`, {});
      expect(await project.ok("POST", `${merge}/apply`, { planId: rest.plan.id })).toMatchObject({
        outcome: "applied",
        state: "applied",
        resolution: { userResolved: 1, success: true },
      });
      expect([project.read("a.txt"), project.read("c.txt")]).toEqual(["of both\n", "on idea\n"]);
      await check("GET /api/merges/:id", merge);
      await check("GET /api/merges", "/api/merges");
      await check("DELETE /api/threads/:id/checkpoints/:cid", `${at}/checkpoints/${taken.checkpoint.id}`);
      for (const name of ["workspaces", "status", "checkpoints", "storage", "settings", "resident"] as const)
        await check(`GET /api/${name}`, `/api/${name}`);
      await check("POST /api/checkpoints", "/api/checkpoints", {});
      const details = await check("GET /api/checkpoints/:id", `/api/checkpoints/${checkpoint.seq}`);
      expect(details).toMatchObject({ checkpoint: { id: checkpoint.id }, filesTotal: 0 });
      await check("GET /api/history", "/api/history?all=1");
      await check("GET /api/history/:seq/steps", "/api/history/T1/steps");
      await check("GET /api/history/:seq/changes", "/api/history/T1/changes?detail=text");
      await check("GET /api/history/:seq/changes/diff", "/api/history/T1/changes/diff?path=b.txt");
      const { patchBase64 } = await check("GET /api/history/:seq/patch", "/api/history/T1/patch");
      expect(Buffer.from(patchBase64, "base64").toString()).toContain("+++ b/b.txt\n@@ -0,0 +1 @@\n+b\n");
      await check("POST /api/checkpoints/:id/fork", `/api/checkpoints/${checkpoint.id}/fork`, { thread });
      expect(await check("PUT /api/pause", "/api/pause", { minutes: 5 })).toMatchObject({
        paused: { until: expect.any(String) },
      });
      expect(await check("PUT /api/pause", "/api/pause", { minutes: null })).toEqual({ paused: null });
      await check("GET /api/search", "/api/search?q=a.txt");
      const compared = `/api/checkpoints/${checkpoint.id}/files/disk`;
      await check("GET /api/checkpoints/:a/files/:b", compared);
      await check("GET /api/checkpoints/:a/files/:b/diff", `${compared}/diff?path=b.txt`);
      await check("GET /api/prune", "/api/prune");
      await check("POST /api/prune", "/api/prune", { dryRun: true });
      const second = (await check("POST /api/checkpoints", "/api/checkpoints", {})).checkpoint.id;
      await check("PUT /api/checkpoints/:cid", `/api/checkpoints/${second}`, { tags: ["kept"] });
      await check("DELETE /api/checkpoints/:cid", `/api/checkpoints/${second}`);
      await check("POST /api/prune/undo", "/api/prune/undo", {});
      await check("POST /api/gc", "/api/gc", {});
      await check("POST /api/verify", "/api/verify", { full: true });
      await check("GET /api/verify", "/api/verify");
      await check("GET /api/doctor", "/api/doctor");
      const hooks = { action: "install", dryRun: true };
      const { files: settings } = await check(
        "POST /api/agents/:agent/hooks",
        "/api/agents/codex/hooks",
        hooks,
      );
      expect(settings).toMatchObject([{ path: expect.stringContaining("hooks.json"), outcome: "create" }]);
      execFileSync("git", ["init", "-q", project.project], { timeout: 30_000 });
      const { ghost } = await check("POST /api/ghosts", "/api/ghosts", {});
      expect((await check("GET /api/ghosts", "/api/ghosts")).ghosts).toEqual([ghost]);
      expect(await check("DELETE /api/ghosts/:id", `/api/ghosts/${ghost.id}`)).toEqual({ dropped: 1 });
      expect(await check("GET /api/index", "/api/index")).toMatchObject({ exists: false });
      project.write("found.txt", "where the needle is\n");
      const { hits } = await check("GET /api/find", "/api/find?q=needle&k=1");
      expect(hits).toMatchObject([{ path: "found.txt", startLine: 1, checkpoint: null }]);
      const { indexed } = await check("POST /api/index/files", "/api/index/files", { paths: ["found.txt"] });
      expect(indexed).toMatchObject([{ path: "found.txt", unchanged: true }]);
      const listed = await check("GET /api/index/files", "/api/index/files");
      expect(listed.files.map(({ path }: { path: string }) => path)).toContain("found.txt");
      const remove = () => check("POST /api/index/remove", "/api/index/remove", { paths: ["nothing"] });
      expect(await remove()).toEqual({ removed: 0 });
      expect(await check("POST /api/index/sync", "/api/index/sync", {})).toMatchObject({ reindexed: 0 });
      await check("GET /api/content", "/api/content?text=o&limit=2");
      expect(await check("GET /api/content", `/api/content?q=b&at=${checkpoint.id}`)).toMatchObject({
        checkpoints: 1,
      });
      const { spans } = await check("GET /api/content", "/api/content?q=of%20both&history=1");
      expect(spans).toMatchObject([{ path: "a.txt", text: "of both", addedBy: { title: "Merged idea" } }]);
      await check("GET /api/storage/usage", "/api/storage/usage?by=directory");
      await check("POST /api/forget", "/api/forget", { path: "b.txt", dryRun: true });
      await check("PUT /api/settings", "/api/settings", { key: "disk.capBytes", value: null });
      const closed = await check("POST /api/threads/:id/close", `${at}/close`, {});
      expect(closed.thread).toMatchObject({ closedAt: expect.any(String) });
      const pruned = await check("POST /api/prune", "/api/prune", { dryRun: true, thread });
      expect(pruned).toMatchObject({ pruned: [], dryRun: true });
      await check("DELETE /api/threads/:id", at);
      const described = await project.ok("GET", "/openapi.json");
      expect(described.openapi).toBe("3.1.0");
      const count = Object.values(described.paths as Record<string, object>).flatMap(Object.keys).length;
      expect(count).toBe(Object.keys(ROUTES).length);
      await check("POST /api/resident/stop", "/api/resident/stop", {});
      // streams have no shape; pages, remotes, another design's commands, and what starts programs, have tests of their own
      const apart =
        / \/api\/(?:pages|remotes|shares|jobs|moldable|runs|fixes|merges\/:id\/agent|threads\/:id\/(?:handoff|review))\b/;
      const elsewhere = (name: string, route: object) => !("response" in route) || apart.test(name);
      const unchecked = Object.entries(ROUTES).filter(
        ([name, route]) => !checked.has(name) && !elsewhere(name, route),
      );
      expect(unchecked.map(([name]) => name)).toEqual([]);
    }),
  );
});

describe("plans", () => {
  test(
    "[R42] [N0] a rollback needs the plan of its preview, and is refused when the files moved on",
    served(async (project) => {
      const at = `/api/threads/${await open(project)}`;
      const { checkpoint } = await project.ok("POST", `${at}/checkpoints`, {});
      project.write("a.txt", "two\n");
      const cp = `${at}/checkpoints/${checkpoint.id}/rollback`;
      expect((await project.call("POST", cp, {})).status).toBe(400);
      expect((await project.call("POST", cp, { planId: "nothing" })).body.error.code).toBe("PLAN_STALE");
      const { plan } = await project.ok("GET", `${cp}/preview`);
      project.write("a.txt", "three\n");
      const stale = await project.call("POST", cp, { planId: plan.id });
      expect(stale).toMatchObject({ status: 409, body: { error: { code: "PLAN_STALE" } } });
      expect(project.read("a.txt")).toBe("three\n");
      const fresh = (await project.ok("GET", `${cp}/preview`)).plan;
      await project.ok("POST", cp, { planId: fresh.id });
      expect(project.read("a.txt")).toBe("one\n");
      expect((await project.call("POST", cp, { planId: fresh.id })).status).toBe(409);
    }),
  );
});

describe("events", () => {
  test(
    "[A10] [A12] [A31] [A73] a prompt, its checkpoint, edits and the end are told, and a reader can resume",
    served(async (project) => {
      const thread = await open(project);
      const at = `/api/threads/${thread}`;
      const { told: reading } = await project.listen(`${at}/events`, 6);
      const { checkpoint } = await project.ok("POST", `${at}/messages`, { content: "hello" });
      await project.ok("POST", `${at}/tools`, {
        phase: "before",
        tool: "Write",
        toolUseId: "1",
        paths: ["a.txt"],
      });
      project.write("a.txt", "two\n");
      await project.ok("POST", `${at}/tools`, { phase: "after", tool: "Write", toolUseId: "1" });
      await project.ok("POST", `${at}/stop`, {});
      const events = await reading;
      expect(events[0]!.data.type).toBe("resident_status");
      const types = events.map(({ data }) => data.type);
      expect(types.indexOf("checkpoint_created")).toBeGreaterThan(0);
      expect(types.indexOf("user"), "after its checkpoint").toBeGreaterThan(
        types.indexOf("checkpoint_created"),
      );
      expect((await project.ok("GET", `${at}/messages`)).messages).toMatchObject([
        { content: "hello", checkpoint: checkpoint.id },
      ]);
      const user = events.find(({ data }) => data.type === "user")!;
      expect(user.data).toMatchObject({
        content: "hello",
        checkpoint: checkpoint.id,
        session: "session_1",
        dialog_id: thread,
      });
      const edit = events.find(({ data }) => data.type === "file_edit");
      expect(edit?.data).toMatchObject({ file: project.path("a.txt"), dialog_id: thread });
      expect(edit?.data.diff).toMatch(/^--- a\/a\.txt\n\+\+\+ b\/a\.txt\n[^]*\+two/);
      expect(edit?.data).not.toHaveProperty("checkpoint");
      const again = await project.events(`${at}/events`, 2, user.id);
      expect(Number(again[1]!.id)).toBeGreaterThan(Number(user.id));
    }),
  );

  test(
    "an answer is told as well",
    served(async (project) => {
      const at = `/api/threads/${await open(project)}`;
      const { told: reading } = await project.listen(`${at}/events`, 2);
      await project.ok("POST", `${at}/messages`, { role: "assistant", content: "there you are" });
      const [, answer] = await reading;
      expect(answer!.data).toMatchObject({ type: "assistant", content: "there you are", checkpoint: null });
    }),
  );

  test(
    "what a command in another process does is told too",
    served(async (project) => {
      const { told: reading } = await project.listen("/api/events", 2);
      project.write("a.txt", "two\n");
      project.belay("checkpoint", "-m", "from-outside");
      const [, created] = await reading;
      expect(created!.data).toMatchObject({
        type: "checkpoint_created",
        checkpoint: { name: "from-outside" },
      });
    }),
  );
});

describe("bad input", () => {
  test(
    "gets the contract's error and status, and changes nothing",
    served(async (project) => {
      const thread = await open(project);
      const at = `/api/threads/${thread}`;
      const cases: readonly (readonly [string, string, unknown, number, string])[] = [
        ["GET", "/api/threads/kkkkkkkkkkkkkkkk", undefined, 404, "THREAD_NOT_FOUND"],
        ["GET", `${at}/checkpoints/kkkkkkkkkkkkkkkk`, undefined, 404, "CHECKPOINT_NOT_FOUND"],
        ["GET", "/api/nothing", undefined, 404, "ROUTE_NOT_FOUND"],
        ["GET", "/api/status?workspace=%2Fnot%2Fthere", undefined, 404, "WORKSPACE_NOT_FOUND"],
        ["GET", "/api/status?workspace=zzzzzzzzzzzzzzzz", undefined, 404, "WORKSPACE_NOT_FOUND"],
        ["POST", `${at}/messages`, "{", 400, "BAD_REQUEST"],
        ["POST", `${at}/messages`, {}, 400, "BAD_REQUEST"],
        ["POST", `${at}/messages`, { content: 7 }, 400, "BAD_REQUEST"],
        ["POST", `${at}/messages`, [], 400, "BAD_REQUEST"],
        ["POST", `${at}/messages`, "null", 400, "BAD_REQUEST"],
        ["POST", `${at}/messages`, { content: "x".repeat(600_000) }, 400, "BAD_REQUEST"],
        ["POST", `${at}/messages`, { content: "x".repeat(1_100_000) }, 413, "BODY_TOO_LARGE"],
        ["POST", `${at}/checkpoints`, { name: "@bad" }, 400, "NAME_INVALID"],
        ["GET", `${at}/checkpoints?limit=-1`, undefined, 400, "BAD_REQUEST"],
        ["GET", `${at}/checkpoints?limit=many`, undefined, 400, "BAD_REQUEST"],
        ["GET", "/api/search", undefined, 400, "BAD_REQUEST"],
        ["PUT", "/api/settings", { key: "no.such", value: "1" }, 400, "CONFIG_INVALID"],
        ["POST", "/api/prune", { policy: "no-such" }, 400, "BAD_REQUEST"],
        ["POST", `${at}/edits`, { paths: ["../outside"] }, 400, "PATH_OUTSIDE"],
        [
          "POST",
          `${at}/edits`,
          { paths: Array.from({ length: 1001 }, (_, index) => `f${index}`) },
          400,
          "BAD_REQUEST",
        ],
      ];
      for (const [method, path, body, status, code] of cases) {
        const answer = await project.call(method, path, body);
        expect(answer, `${method} ${path}`).toMatchObject({ status, body: { error: { code } } });
        expect(shapes.errorBody.safeParse(answer.body).success).toBe(true);
      }
      expect(project.read("a.txt")).toBe("one\n");
    }),
  );
});

test(
  "while another process restores, a rollback is refused with 423 and names its owner",
  served(async (project) => {
    const at = `/api/threads/${await open(project)}`;
    const { checkpoint } = await project.ok("POST", `${at}/checkpoints`, {});
    project.write("a.txt", "two\n");
    project.variables = { NODE_OPTIONS: standsStillAt("a.txt") };
    const other = project.start("restore", checkpoint.id, "--yes");
    await untilStandingStill(other.pid!);
    try {
      const refused = await project.call(
        "POST",
        `/api/sessions/${at.split("/").at(-1)}/checkpoints/${checkpoint.id}/rollback`,
        {},
      );
      expect(refused).toMatchObject({
        status: 423,
        body: { error: { code: "RESTORE_RUNNING", pid: other.pid } },
      });
    } finally {
      other.kill("SIGCONT");
      await once(other, "exit");
    }
    expect(project.read("a.txt")).toBe("one\n");
  }),
);

test(
  "[R72] changed settings hold at once, and disturb no work under way",
  served(async (project) => {
    const thread = await open(project);
    const { told: heard } = await project.listen(`/api/threads/${thread}/events`, 12);
    const set = async (value: string) =>
      project.ok("PUT", "/api/settings", { key: "limits.fileBytes", value });
    const work = async (at: number) => {
      project.write(`f${at}.txt`, "x".repeat(at));
      return project.ok("POST", `/api/threads/${thread}/checkpoints`, { name: `c${at}` });
    };
    await Promise.all(Array.from({ length: 10 }, async (_, at) => (at % 3 === 2 ? set("1000") : work(at))));
    project.write("large.txt", "x".repeat(1001));
    const { checkpoint } = await project.ok("POST", `/api/threads/${thread}/checkpoints`, { name: "last" });
    expect(checkpoint.gaps).toMatchObject([{ path: "large.txt", reason: "too-large" }]);
    await set("2000");
    for (const name of ["one more", "and more", "the last"])
      await project.ok("POST", `/api/threads/${thread}/checkpoints`, { name });
    const { checkpoints } = await project.ok("GET", `/api/threads/${thread}/checkpoints`);
    expect(checkpoints[0].gaps).toEqual([]);
    // the stream that was open before the first change tells of all of it
    const made = (await heard).filter(({ data }) => data.type === "checkpoint_created");
    expect(made.length).toBeGreaterThanOrEqual(10);
  }),
);

test(
  "[R168] secrets in words are left out of every answer and event, on all mounts; search still finds them",
  served(async (project) => {
    const secret = "hunter2-and-more";
    const { thread } = await project.ok("POST", "/api/threads", {
      agent: "test",
      title: `use PASSWORD=${secret}`,
    });
    const at = `/api/threads/${thread.id}`;
    await project.ok("POST", `${at}/messages`, { content: `log in with --password ${secret} now` });
    project.write("a.txt", `PASSWORD=${secret}\n`);
    await project.ok("POST", `${at}/stop`, {});
    const paths = [
      "/api/threads",
      at,
      `${at}/messages`,
      `${at}/timeline`,
      `${at}/checkpoints`,
      `${at}/undo/preview`,
    ];
    const mounted = [
      `/api/dialogs/${thread.id}`,
      `/api/dialogs/${thread.id}/history`,
      `/api/sessions/${thread.id}/checkpoints`,
    ];
    for (const path of [...paths, "/api/dialogs", ...mounted]) {
      const text = JSON.stringify(await project.ok("GET", path));
      expect([path, text.includes(secret)]).toEqual([path, false]);
    }
    const events = JSON.stringify(await project.events(`${at}/events`, 6, "0"));
    expect(events).toContain("--password [redacted] now");
    expect(events.replaceAll(/"diff":"[^"]*"/g, "")).not.toContain(secret);
    // a key that the beginning of the prompt would have cut in two
    const key = `Use this key for the service and no other: ${["dp", "pt", "a1B2".repeat(11)].join(".")}`;
    const cut = await project.ok("POST", `${at}/messages`, { content: key });
    const described = "Before user message: Use this key for the service and no other: [redact…";
    expect(cut.checkpoint.description).toBe(described);
    await project.ok("POST", `/api/dialogs/${thread.id}/messages`, { role: "user", content: key });
    const { checkpoints } = await project.ok("GET", `/api/dialogs/${thread.id}/checkpoints`);
    expect(checkpoints.at(-1).message).toBe(described);
    expect(JSON.stringify(checkpoints)).not.toContain("a1B2");
    // the file is the user's
    const [first] = (await project.ok("GET", `${at}/checkpoints`)).checkpoints.slice(-1);
    const diff = await project.ok("GET", `${at}/checkpoints/${first.id}/diff`);
    expect(JSON.stringify(diff)).toContain(`PASSWORD=${secret}`);
    expect(JSON.stringify(await project.ok("GET", `/api/search?q=${secret}`))).toContain(thread.id);
  }),
);
