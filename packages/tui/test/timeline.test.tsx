import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { TimelineScreen } from "../src/screens/timeline/timeline.tsx";
import { PicturedProject } from "./support/pictured-project.ts";
import { KEYS, Window, type WindowOptions } from "./support/window.tsx";

let project: PicturedProject;
beforeAll(async () => {
  project = await PicturedProject.played();
});
afterAll(async () => {
  expect(await project.verify()).toEqual([]);
  await project[Symbol.asyncDispose]();
});

async function open(options: WindowOptions = {}): Promise<Window> {
  const window = await Window.open(<TimelineScreen />, { place: project.place, ...options });
  await window.shows(/Snapshot Timeline \(Current/);
  return window;
}

describe("the timeline", () => {
  test("[M03] [M69] [M70] [M71] [M72] [M73] at 80×24 as in the picture", async () => {
    await using window = await open();
    await window.press("j");
    expect(window.lines.slice(0, 19)).toEqual([
      "╭──────────────────────────────────────────────────────────────────────────────╮",
      "│ Snapshot Timeline (Current: Document the retry headers in the OpenAPI spec)  │",
      "╰──────────────────────────────────────────────────────────────────────────────╯",
      "  10:52:31 ○ Make the retry budget configurable per tenant",
      "      ├─► claude-code (38.2s) ⚠",
      "      Files: 1 modified, 1 added, 0 deleted",
      "› 10:42:03 ○ Add retry with exponential backoff to the payment client",
      "      ├─► claude-code (72.4s) ✓",
      "      Files: 3 modified, 1 added, 1 deleted",
      "  10:41:12 ● Document the retry headers in the OpenAPI spec",
      "      ├─► codex (181.0s) ✓                                      1 captured late",
      "      Files: 3 modified, 0 added, 0 deleted",
      "  ───────── ✓ approved 10:31:40 · claude-code · session_2 ─────────",
      "  10:24:10 ○ Before the retry work                                       [demo]",
      "  10:18:55 ○ Use idempotency keys for every charge",
      "      ├─► claude-code (140.7s) ✓                                 1 not captured",
      "      Files: 5 modified, 2 added, 0 deleted",
      "  10:11:20 ○ Cache provider tokens in Redis                              undone",
      "      Files: 3 modified, 1 added, 0 deleted",
    ]);
  });

  test("[M73] d opens the diff of the row, Esc comes back to it", async () => {
    await using window = await open();
    await window.press("j", "d");
    await window.shows("hunk 1");
    expect(window.lines[0]).toContain('Before "Add retry with exponential');
    await window.press(KEYS.esc);
    await window.shows("› 10:42:03");
  });
});
