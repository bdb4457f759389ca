/** `status --short`: one line for a shell's prompt. */
import { rmSync } from "node:fs";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Sandbox } from "./sandbox.ts";

let sandbox: Sandbox;

beforeEach(async () => void (sandbox = await Sandbox.protected()));
afterEach(() => sandbox[Symbol.dispose]());

/** No agent of the machine that runs the test counts. */
const short = (cwd = sandbox.project) =>
  sandbox.belay(["-C", sandbox.project, "status", "--short"], { cwd, env: { PATH: "/nowhere" } });

test("[R263] what changed is counted, and nothing else is said", async () => {
  expect(short()).toEqual({ status: 0, stdout: "✓\n", stderr: "" });
  sandbox.write("new.txt", "new\n");
  sandbox.write("a.txt", "changed\n");
  expect(short().stdout).toBe("✓ 2 changed (+1 ~1 -0)\n");
  expect(sandbox.json(["status", "--short"]).changes).toMatchObject({ added: 1, modified: 1, deleted: 0 });
  await sandbox.verify();
});

test("[R263] what is in the way of captures comes first", async () => {
  sandbox.ok("pause", "5m");
  sandbox.write("a.txt", "changed\n");
  expect(short().stdout).toBe("✗ paused 1 changed (+0 ~1 -0)\n");
  sandbox.ok("resume");
  sandbox.ok("config", "checkpoints.automatic", "off");
  expect(short().stdout).toBe("✗ automatic off\n");
  await sandbox.verify();
  rmSync(sandbox.project, { recursive: true });
  expect(short(sandbox.base).stdout).toBe("✗ gone\n");
});

test("[R263] where nothing is protected it ends with 4 and prints nothing on stdout", () => {
  const outside = sandbox.belay(["status", "--short"], { cwd: sandbox.base });
  expect(outside).toMatchObject({ status: 4, stdout: "" });
});
