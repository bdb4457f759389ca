/** What going back could not bring back is said over HTTP as on the command line. */
import { expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

const FILES = { "a.txt": "one\n", "secret.key": "password\n" };

async function threadWithSecret(project: ServedProject): Promise<{ at: string; checkpoint: string }> {
  const { thread } = await project.ok("POST", "/api/threads", { agent: "test" });
  const at = `/api/threads/${thread.id}`;
  const { checkpoint } = await project.ok("POST", `${at}/checkpoints`, {});
  project.belay("forget", "secret.key", "--yes");
  return { at, checkpoint: checkpoint.id };
}

test(
  "[R198] a rollback of paths that were forgotten says what was not restored, and why",
  served(async (project) => {
    const { at, checkpoint } = await threadWithSecret(project);
    const rollback = `${at}/checkpoints/${checkpoint}/rollback`;
    const { plan } = await project.ok("GET", `${rollback}/preview?paths=secret.key`);
    expect(plan).toMatchObject({ operations: [], leftOut: [{ path: "secret.key", reason: "forgotten" }] });
    expect(await project.ok("POST", rollback, { planId: plan.id })).toMatchObject({
      outcome: "unchanged",
      leftOut: [{ path: "secret.key", reason: "forgotten" }],
      leftOutTotal: 1,
    });
  }, FILES),
);

test(
  "[R198] a rollback of which one path was forgotten is partial, on both mounts",
  served(async (project) => {
    const { at, checkpoint } = await threadWithSecret(project);
    const rollback = `${at}/checkpoints/${checkpoint}/rollback`;
    const partial = { outcome: "partial", leftOut: [{ path: "secret.key", reason: "forgotten" }] };
    project.write("a.txt", "two\n");
    const { plan } = await project.ok("GET", `${rollback}/preview?paths=secret.key&paths=a.txt`);
    expect(await project.ok("POST", rollback, { planId: plan.id })).toMatchObject(partial);
    expect(project.read("a.txt")).toBe("one\n");
    project.write("a.txt", "three\n");
    const session = rollback.replace("threads", "sessions");
    expect(await project.ok("POST", session, { paths: ["secret.key", "a.txt"] })).toMatchObject(partial);
    expect(project.read("a.txt")).toBe("one\n");
  }, FILES),
);
