import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { makeDirectory } from "../../test/support/place.ts";
import { CHECKPOINT_PRESETS, type CheckpointPolicy } from "../model/policy.ts";
import { RETENTION_PRESETS } from "../model/retention.ts";
import { oncePerTask } from "./once-per-task.ts";
import { setPauseOfAll } from "./pauses.ts";
import { writeSetting } from "./settings.ts";
import { WorkspaceSettings } from "./workspace-settings.ts";

let home: string;
let now: number;
beforeEach(() => {
  home = makeDirectory("belay-workspace-settings-");
  now = 1000;
});
afterEach(() => {
  rmSync(home, { recursive: true, force: true });
});

const open = (policy?: CheckpointPolicy) => new WorkspaceSettings({ home, id: "a", now: () => now, policy });
/** Ends the task: what comes after the next microtasks is another one. */
const nextTask = () => new Promise((resolve) => setImmediate(resolve));

test("[R799] what the file says about a workspace goes before the rest, for that workspace alone", () => {
  const write = (settings: object) => writeFileSync(join(home, "config.json"), JSON.stringify(settings));
  write({
    "forks.limit": 7,
    "disk.capBytes": "1GiB",
    workspaces: { a: { forks: { limit: 2, env: { PORT: "1" } }, "retention.policy": "mimir" } },
    "workspaces.a.disk.capBytes": "2GiB",
  });
  const [own, other] = [open(), new WorkspaceSettings({ home, id: "b", now: () => now })];
  expect([own.forks.limit, own.capBytes, own.forks.env]).toEqual([2, 2 * 2 ** 30, { PORT: "1" }]);
  expect(own.retention).toBe(RETENTION_PRESETS["mimir"]);
  expect([other.forks.limit, other.capBytes, other.forks.env]).toEqual([7, 2 ** 30, {}]);
  write({ workspaces: { a: { "forks.limit": "many" } } });
  expect(() => open()).toThrow("workspaces.a.forks.limit");
  expect(() => new WorkspaceSettings({ home, id: "b", now: () => now })).not.toThrow();
});

describe("reading once per task", () => {
  test("reads at the first use, and again in the next task", async () => {
    let reads = 0;
    const read = oncePerTask(() => (reads += 1));
    expect(reads).toBe(0);
    expect([read(), read(), read()]).toEqual([1, 1, 1]);
    await nextTask();
    expect([read(), read()]).toEqual([2, 2]);
  });

  test("an error is not kept", () => {
    let works = false;
    const read = oncePerTask(() => {
      if (!works) throw new Error("not yet");
      return "value";
    });
    expect(read).toThrow("not yet");
    works = true;
    expect(read()).toBe("value");
  });

  test("undefined is a value like any other", () => {
    let reads = 0;
    const read = oncePerTask(() => void (reads += 1));
    read();
    read();
    expect(reads).toBe(1);
  });
});

describe("the settings of a workspace", () => {
  test("a wrong file is refused when the workspace is opened", () => {
    writeFileSync(join(home, "config.json"), "[]");
    expect(() => open()).toThrow(expect.objectContaining({ code: "CONFIG_INVALID" }));
  });

  test("[R140] change from one task to the next, and never within one", async () => {
    const settings = open();
    writeSetting(home, "disk.capBytes", "1000");
    expect(settings.capBytes).toBe(10 * 1024 ** 3);
    await nextTask();
    expect(settings.capBytes).toBe(1000);
    writeSetting(home, "disk.capBytes", null);
    expect(settings.capBytes).toBe(1000);
    await nextTask();
    expect(settings.capBytes).toBe(10 * 1024 ** 3);
  });

  test("limits are the smaller of the settings and the retention policy", async () => {
    const settings = open();
    const { fileBytes, checkpointBytes } = RETENTION_PRESETS["moldable"]!;
    expect(settings.limits).toMatchObject({ fileBytes: 64 * 1024 ** 2, checkpointBytes: 2 * 1024 ** 3 });
    writeSetting(home, "retention.policy", "moldable");
    await nextTask();
    expect(settings.retention.name).toBe("moldable");
    expect(settings.limits).toMatchObject({ fileBytes, checkpointBytes });
    writeSetting(home, "limits.fileBytes", "5");
    writeSetting(home, "limits.checkpointBytes", "7");
    await nextTask();
    expect(settings.limits).toMatchObject({ fileBytes: 5, checkpointBytes: 7 });
  });

  test("the budget for ignored files comes from the settings alone", async () => {
    const settings = open();
    writeSetting(home, "limits.ignoredFiles", "0");
    writeSetting(home, "limits.ignoredBytes", "10");
    writeSetting(home, "limits.ignoredFileBytes", "20");
    await nextTask();
    expect(settings.limits.ignored).toEqual({ files: 0, bytes: 10, fileBytes: 20 });
  });
});

describe("which events make checkpoints", () => {
  test("the settings' preset, or none when they are off", async () => {
    const settings = open();
    expect(settings.policy).toEqual(CHECKPOINT_PRESETS.everything);
    writeSetting(home, "checkpoints.policy", "message");
    await nextTask();
    expect(settings.policy).toEqual(CHECKPOINT_PRESETS.message);
    writeSetting(home, "checkpoints.automatic", "off");
    await nextTask();
    expect(settings.policy.triggers).toEqual([]);
  });

  test("the caller's choice comes before the settings", () => {
    writeSetting(home, "checkpoints.automatic", "off");
    expect(open(CHECKPOINT_PRESETS.tool).policy).toEqual(CHECKPOINT_PRESETS.tool);
  });

  test("a pause comes before both, and its end gives them back", async () => {
    const settings = open(CHECKPOINT_PRESETS.tool);
    setPauseOfAll(home, { since: 0, until: 5000 });
    await nextTask();
    expect(settings.policy).toEqual({ name: "paused", triggers: [] });
    now = 5000;
    await nextTask();
    expect(settings.policy).toEqual(CHECKPOINT_PRESETS.tool);
  });

  test("a pause that ends in the middle of a task ends after it", async () => {
    const settings = open();
    settings.pauses.set({ since: 0, until: 2000 }, "workspace");
    expect(settings.policy.name).toBe("paused");
    now = 3000;
    expect(settings.policy.name).toBe("paused");
    await nextTask();
    expect(settings.policy.name).toBe("everything");
  });
});
