/** Remotes over HTTP, without a server: jobs that end with the command's own error, and names that are no options. */
import { ROUTES } from "@belay/protocol";
import { expect, test } from "vitest";
import { served } from "./support/served-project.ts";

test(
  "[R708, R1510] what exchanges something with a remote is a job, which is asked about; names are never options",
  served(async (project) => {
    expect(await project.ok("GET", "/api/remotes")).toEqual({ remotes: [] });
    // [R1510] the same for shares and handoffs
    const { thread } = await project.ok("POST", "/api/threads", { agent: "codex", externalId: "s-1" });
    for (const [method, path, body] of [
      ["GET", "/api/shares", undefined],
      ["POST", "/api/shares", { checkpoint: "@", link: true }],
      ["DELETE", "/api/shares/kkkk", undefined],
      ["POST", `/api/threads/${thread.id}/handoff`, {}],
      ["POST", `/api/threads/${thread.id}/handoff`, { take: true, remote: "team" }],
      ["POST", `/api/threads/${thread.id}/handoff`, { take: true, remote: "team", planId: "p" }],
    ] as const)
      expect(await project.call(method, path, body), path).toMatchObject({
        status: 404,
        body: { error: { code: "REMOTE_NOT_FOUND" } },
      });
    expect((await project.call("POST", "/api/shares", { checkpoint: "--list" })).status).toBe(400);
    const review = (body: object) => project.call("POST", `/api/threads/${thread.id}/review`, body);
    expect(await review({ remote: "team" })).toMatchObject({ status: 404 });
    expect((await review({ remote: "--all" })).status).toBe(400);
    expect((await review({})).status).toBe(400);
    // [R2240] whatever a line is called, it is no option
    expect((await project.call("POST", "/api/remotes/team/lines/ab12/adopt", {})).status).toBe(404);
    expect((await project.call("POST", "/api/remotes/team/lines/--yes/adopt", {})).status).toBe(400);
    for (const verb of ["push", "pull", "sync", "verify", "gc", "rotate"]) {
      const { status, body } = await project.call("POST", `/api/remotes/team/${verb}`, {});
      expect(status).toBe(202);
      expect(ROUTES["GET /api/jobs/:id"].response.safeParse(body).error).toBeUndefined();
      const job = async () => (await project.ok("GET", `/api/jobs/${body.job.id}`)).job;
      await expect.poll(async () => (await job()).state, { timeout: 60_000 }).toBe("failed");
      expect(await job()).toMatchObject({ result: null, error: { code: "REMOTE_NOT_FOUND" } });
    }
    for (const [method, path] of [
      ["GET", "/api/remotes/team/lines"],
      ["GET", "/api/remotes/team"],
      ["DELETE", "/api/remotes/team"],
      ["DELETE", "/api/jobs/nothing"],
    ] as const)
      expect((await project.call(method, path)).status, path).toBe(404);
    // [R1509] adding is a command too: what it needs is checked there, and no word is an option
    const add = (body: object) => project.call("POST", "/api/remotes", body);
    const url = "s3://bucket/x?endpoint=http://127.0.0.1:1";
    expect((await add({ name: "team" })).status).toBe(400);
    expect((await add({ name: "--records", url })).status).toBe(400);
    expect((await add({ name: "team", url: "s3://" })).status).toBe(400);
    // no access, or no server: what the machine of the test has decides
    const { error } = (await add({ name: "team", url, recoveryFile: "../--key.txt" })).body;
    expect(error.code).toMatch(/^REMOTE_(?:DENIED|UNREACHABLE)$/);
    expect(await project.ok("GET", "/api/remotes")).toEqual({ remotes: [] });
    expect((await project.call("GET", "/api/jobs/nothing")).status).toBe(404);
    for (const name of ["--full", "-x", "a%20b"])
      expect((await project.call("GET", `/api/remotes/${name}/lines`)).status).toBe(400);
    const fetched = await project.call("POST", "/api/remotes/team/fetch", { reference: "--json" });
    expect(fetched.status).toBe(400);
  }),
);
