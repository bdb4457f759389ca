import { expect, test } from "vitest";
import { TimelineScreen } from "../src/screens/timeline/timeline.tsx";
import { PicturedProject } from "./support/pictured-project.ts";
import { Window } from "./support/window.tsx";

test("[M71] an agent that failed has a cross, one that is done a tick, and the work of both stands below", async () => {
  await using project = await PicturedProject.empty();
  const { id: thread } = await project.play("10:49:00", async ({ threads }) =>
    threads.create({ agent: "codex" }),
  );
  const turn = (at: string, prompt: string, status: "completed" | "failed") =>
    project.play(at, async ({ turns }) => {
      await turns.prompt(thread, { content: prompt });
      await turns.beginAgent(thread, { id: prompt, role: "coder" });
      project.write(`${status}.txt`, "made\n");
      await turns.endAgent(thread, { id: prompt, status });
      await turns.end(thread);
    });
  await turn("10:50:00", "Write a", "completed");
  await turn("10:51:00", "Write b and stumble", "failed");
  await using window = await Window.open(<TimelineScreen />, { place: project.place });
  await window.shows("Write b and stumble");
  const below = (title: string) => {
    const at = window.lines.findIndex((line) => line.includes(`○ ${title}`) || line.includes(`● ${title}`));
    return window.lines.slice(at + 1, at + 3).map((line) => line.trim());
  };
  expect(below("Write b and stumble")).toEqual([
    expect.stringMatching(/^├─► codex \(\d+\.\ds\) ✗$/),
    "Files: 0 modified, 1 added, 0 deleted",
  ]);
  expect(below("Write a")[0]).toMatch(/^├─► codex \(\d+\.\ds\) ✓$/);
  expect(await project.verify()).toEqual([]);
});
