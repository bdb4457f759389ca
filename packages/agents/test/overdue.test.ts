/** [R71] Events that take longer than their agent may wait: who leaves, who makes up for them, and what is told. */
import { spawn } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { runHook } from "../src/handling/run-hook.ts";
import { clearNote, leaveEvent, waitedInTurn } from "../src/handling/late-answer.ts";
import { listOverdue, OverduePlace, type OverdueEvent } from "../src/state/overdue-events.ts";
import { listUncaptured, setUncapturedAside } from "../src/state/uncaptured-work.ts";
import { fixture, setUpStage, temporaryDirectory } from "./recording-host.ts";

const PLACE = { agent: "claude-code", cwd: "/home/you/project" };
const GONE = 2 ** 22 + 1;

function overdue(id: string, event: string, more: Partial<OverdueEvent> = {}): OverdueEvent {
  const input = JSON.stringify(fixture("claude-code", event));
  return { ...PLACE, environment: {}, id, input, deadline: Date.now() - 100, worker: GONE, ...more };
}

async function collect(place: OverduePlace, before?: string): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of place.leftBehind(before)) ids.push(id);
  return ids;
}

describe("a note is there exactly while its event is neither carried out nor waited for", () => {
  test.each(["the hook leaves first", "the work ends first"])("%s", (order) => {
    const home = temporaryDirectory();
    const place = new OverduePlace(home, PLACE);
    const event = overdue("1", "PreToolUse.Bash");
    if (order === "the hook leaves first") {
      expect(place.leave(event)).toBe(true);
      expect(listOverdue(home)).toEqual([event]);
      place.finished("1", 10);
    } else {
      place.finished("1", 10);
      expect(listOverdue(home)).toEqual([]);
      expect(place.leave(event)).toBe(false);
    }
    expect(listOverdue(home)).toEqual([]);
    expect(existsSync(join(home, "agents/overdue"))).toBe(false);
  });

  test("work that ends in time, or long after, leaves none", () => {
    const home = temporaryDirectory();
    const place = new OverduePlace(home, PLACE);
    place.finished("1", -500);
    place.finished("2", 60_000);
    expect(existsSync(join(home, "agents/overdue"))).toBe(false);
  });

  test("those whose process is gone are found once, oldest first; those of a living one are waited for", async () => {
    const place = new OverduePlace(temporaryDirectory(), PLACE);
    const living = spawn("sleep", ["60"]);
    for (const [id, worker] of [
      ["1", GONE],
      ["2", living.pid!],
      ["3", GONE],
    ] as const)
      place.leave(overdue(id, "PreToolUse.Bash", { worker }));
    setTimeout(() => living.kill("SIGKILL"), 100);
    expect(await collect(place, "3")).toEqual(["1", "2"]);
    expect(await collect(place)).toEqual(["3"]);
    expect(await collect(place)).toEqual([]);
  });
});

test("what was left behind is carried out before the next event, and counts once", async () => {
  const { home, host, send } = setUpStage();
  const cwd = "/elsewhere";
  const place = new OverduePlace(home, { ...PLACE, cwd });
  const left = overdue("1", "PreToolUse.Bash", { cwd });
  place.leave(left);
  await send("claude-code", fixture("claude-code", "PostToolUse.Bash"));
  expect(host.story.map((line) => line.split(" ")[0])).toEqual(["toolBefore", "toolAfter"]);
  const deadlines = host.calls.filter(({ call }) => call === "openThread").map((call) => call["deadline"]);
  expect(deadlines).toEqual([{ at: left.deadline, reason: "missed" }, undefined]);
  place.leave(left);
  await send("claude-code", fixture("claude-code", "Stop"));
  expect(host.story.filter((line) => line.startsWith("toolBefore"))).toHaveLength(1);
});

describe("a hook that leaves its event", () => {
  test("the agent gets an answer, the log a line, and the rest of the turn less time", async () => {
    const home = temporaryDirectory();
    const event = overdue("1", "PreToolUse.Bash");
    const { outcome, text } = await leaveEvent(home, { event, waitedMs: 850, problem: undefined });
    expect(outcome).toBe("noted");
    expect(JSON.parse(text)).toEqual({ systemMessage: expect.stringContaining("will be late") as string });
    expect(readFileSync(join(home, "agents/trouble.log"), "utf8")).toContain("not captured after 0.8 s");
    expect(await waitedInTurn(home, overdue("2", "PostToolUse.Bash"))).toBe(850);
    expect(await waitedInTurn(home, overdue("3", "UserPromptSubmit"))).toBe(0);
    expect(listOverdue(home).map(({ id }) => id)).toEqual(["1"]);
  });

  test("the waits of a turn add up", async () => {
    const home = temporaryDirectory();
    for (const id of ["1", "2", "3"])
      await leaveEvent(home, { event: overdue(id, "PreToolUse.Bash"), waitedMs: 300, problem: undefined });
    expect(await waitedInTurn(home, overdue("4", "PostToolUse.Bash"))).toBe(900);
    const elsewhere = overdue("5", "PostToolUse.Bash", { cwd: "/elsewhere" });
    expect(await waitedInTurn(home, elsewhere)).toBe(0);
  });

  test("work that ended at the same moment leaves nothing to do, and no warning", async () => {
    const home = temporaryDirectory();
    const event = overdue("1", "PreToolUse.Bash");
    new OverduePlace(home, event).finished("1", 10);
    const left = await leaveEvent(home, { event, waitedMs: 850, problem: undefined });
    expect(left).toEqual({ outcome: "just done", text: "{}" });
    expect(listOverdue(home)).toEqual([]);
  });

  test("what went wrong with the work is said instead of that it is late", async () => {
    const home = temporaryDirectory();
    const event = overdue("1", "PreToolUse.Bash");
    const { text } = await leaveEvent(home, { event, waitedMs: 10, problem: "the worker ended with 9" });
    expect(text).toContain("may not be captured (the worker ended with 9)");
  });

  test("where no note can be written, the event is remembered as uncaptured", async () => {
    const home = temporaryDirectory();
    setUncapturedAside(home);
    writeFileSync(join(home, "agents/overdue"), "in the way");
    const event = overdue("1", "PreToolUse.Bash");
    const { outcome, text } = await leaveEvent(home, { event, waitedMs: 850, problem: undefined });
    expect(outcome).toBe("noted");
    expect(text).toContain("may not be captured");
    expect(listUncaptured(home)).toMatchObject([{ agent: "claude-code", events: 1 }]);
  });

  test("a slash command is waited for: its user wants to see what it prints", async () => {
    const home = temporaryDirectory();
    const input = { ...fixture("claude-code", "UserPromptExpansion"), command_name: "belay:undo" };
    const event = overdue("1", "UserPromptExpansion", { input: JSON.stringify(input) });
    const { outcome } = await leaveEvent(home, { event, waitedMs: 850, problem: undefined });
    expect(outcome).toBe("command");
    expect(listOverdue(home)).toEqual([]);
  });

  test("an agent of another name, or an event that is not JSON, still gets an answer", async () => {
    const home = temporaryDirectory();
    const stranger = overdue("1", "PreToolUse.Bash", { agent: "stranger" });
    expect(await leaveEvent(home, { event: stranger, waitedMs: 1, problem: undefined })).toEqual({
      outcome: "just done",
      text: "{}",
    });
    const broken = overdue("2", "PreToolUse.Bash", { input: "{" });
    const { outcome, text } = await leaveEvent(home, { event: broken, waitedMs: 1, problem: undefined });
    expect(outcome).toBe("noted");
    expect(JSON.parse(text)).toHaveProperty("systemMessage");
  });

  test("a hook that had its answer after all clears the note away", () => {
    const home = temporaryDirectory();
    const event = overdue("1", "PreToolUse.Bash");
    new OverduePlace(home, event).finished("1", 10);
    clearNote(home, event);
    expect(existsSync(join(home, "agents/overdue"))).toBe(false);
  });

  test("what the model was to be told with a late answer, it is told with the next one", async () => {
    const { home, host } = setUpStage();
    const prompt = (prompt_id: string, deadline: number) =>
      runHook({
        ...PLACE,
        input: [Buffer.from(JSON.stringify({ ...fixture("claude-code", "UserPromptSubmit"), prompt_id }))],
        host,
        home,
        environment: {},
        wait: { id: `${deadline}`, deadline },
      });
    host.notices = ["Undid: add a parser"];
    expect(await prompt("p1", Date.now() - 100)).not.toContain("add a parser");
    expect(await prompt("p2", Date.now() + 60_000)).toContain("add a parser");
  });
});
