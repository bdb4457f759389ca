/** Remotes over HTTP, without a server: jobs that end with the command's own error, and names that are no options. */
import { ROUTES } from "@belay/protocol";
import { expect, test } from "vitest";
import { served } from "./support/served-project.ts";

test(
  "[R708] what exchanges something with a remote is a job, which is asked about; names are never options",
  served(async (project) => {
    expect(await project.ok("GET", "/api/remotes")).toEqual({ remotes: [] });
    for (const verb of ["push", "pull", "sync", "verify"]) {
      const { status, body } = await project.call("POST", `/api/remotes/team/${verb}`, {});
      expect(status).toBe(202);
      expect(ROUTES["GET /api/jobs/:id"].response.safeParse(body).error).toBeUndefined();
      const job = async () => (await project.ok("GET", `/api/jobs/${body.job.id}`)).job;
      await expect.poll(async () => (await job()).state, { timeout: 60_000 }).toBe("failed");
      expect(await job()).toMatchObject({ result: null, error: { code: "REMOTE_NOT_FOUND" } });
    }
    expect((await project.call("GET", "/api/remotes/team/lines")).status).toBe(404);
    expect((await project.call("GET", "/api/jobs/nothing")).status).toBe(404);
    for (const name of ["--full", "-x", "a%20b"])
      expect((await project.call("GET", `/api/remotes/${name}/lines`)).status).toBe(400);
    const fetched = await project.call("POST", "/api/remotes/team/fetch", { reference: "--json" });
    expect(fetched.status).toBe(400);
  }),
);
