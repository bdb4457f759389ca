/** The hook over Moldable's commands instead of a provider: in this process, and over HTTP. */
import { createElement } from "react";
import { Writable } from "node:stream";
import { render } from "ink";
import { useCheckpoints, type Checkpoints, type Invoke } from "@belay/react";
import { expect, onTestFinished, test } from "vitest";
import { closeDropIn, configureDropIn } from "../../drop-in/src/index.ts";
import { createInvoke } from "../../drop-in/src/moldable-client.ts";
import { configureMoldable, invoke } from "../../drop-in/src/moldable.ts";
import { ServedProject } from "../../server/test/support/served-project.ts";

const FILES = { "page.tsx": "one\n" };

/** Draws a part that only uses the hook, and gives what the hook last answered. */
function using(way: Invoke | undefined, app: string | null = "todo"): () => Checkpoints {
  let shown: Checkpoints | undefined;
  const Chat = () => {
    shown = useCheckpoints(app, "conv-1", way === undefined ? {} : { invoke: way });
    return null;
  };
  const screen = new Writable({ write: (_text, _encoding, done) => done() });
  const drawn = render(createElement(Chat), {
    stdout: screen as unknown as NodeJS.WriteStream,
    patchConsole: false,
  });
  onTestFinished(() => drawn.unmount());
  return () => shown!;
}

async function expectStory(way: Invoke, project: ServedProject): Promise<void> {
  const hook = using(way);
  await expect.poll(() => hook().isLoading).toBe(false);
  expect([hook().enabled, hook().error, hook().checkpoints, hook().hasCheckpoint("m1")]).toEqual([
    true,
    null,
    [],
    false,
  ]);
  expect(await hook().createCheckpoint("m1", project.project)).toMatchObject({
    messageId: "m1",
    fileCount: 1,
  });
  project.write("page.tsx", "two\n");
  project.write("made.tsx", "new\n");
  await hook().refresh();
  await expect.poll(() => hook().getCheckpoint("m1")).toMatchObject({ fileCount: 1, hasChanges: true });
  expect([hook().hasCheckpoint("m1"), hook().hasCheckpoint("m2")]).toEqual([true, false]);
  expect(await hook().restore("m1")).toMatchObject({ filesRestored: 1, filesDeleted: 1 });
  expect(project.tree()).toEqual(FILES);
  expect(await hook().cleanup(0)).toMatchObject({ snapshotsDeleted: 1 });
  await expect.poll(() => hook().checkpoints).toEqual([]);
  await expect(hook().restore("m1")).rejects.toThrow("There is no checkpoint before message m1.");
  await expect.poll(() => hook().error?.message).toMatch(/Nothing was restored/);
}

test("[L24] [R1971] in the process of the commands", async () => {
  await using project = await ServedProject.start(FILES);
  configureDropIn({ home: project.home });
  configureMoldable({});
  onTestFinished(closeDropIn);
  await expectStory(invoke, project);
});

test("[L24] [R1971] over HTTP", async () => {
  await using project = await ServedProject.start(FILES);
  await expectStory(createInvoke({ url: project.url, token: project.token }), project);
});

test.each([null, ""])(
  "[L24] with %j for an app nothing is asked, and everything answers with nothing",
  async (app) => {
    const asked: string[] = [];
    const hook = using((command) => Promise.reject(new Error(`asked: ${String(asked.push(command))}`)), app);
    expect([hook().enabled, hook().checkpoints, hook().isLoading]).toEqual([false, [], false]);
    expect([
      await hook().createCheckpoint("m1"),
      await hook().restore("m1"),
      await hook().cleanup(0),
    ]).toEqual([null, null, null]);
    await hook().refresh();
    expect([asked, hook().error]).toEqual([[], null]);
  },
);
