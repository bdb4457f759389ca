/** Events that are delivered to a process that stays: once, twice, and after their hook has left. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { fixture, setUpStage } from "../../test/recording-host.ts";
import { DEADLINES, eventId } from "../events/event-journey.ts";
import { listOverdue, OverduePlace } from "../state/overdue-events.ts";
import { HookService, type DeliveredEvent } from "./hook-service.ts";

const CWD = "/home/you/project";

function delivered(name: string, wait?: DeliveredEvent["wait"]): DeliveredEvent {
  const input = Buffer.from(JSON.stringify(fixture("claude-code", name)));
  return { agent: "claude-code", input, cwd: CWD, environment: {}, ...(wait && { wait }) };
}

function setUpService() {
  const stage = setUpStage();
  return { ...stage, service: new HookService(stage.home, stage.host) };
}

function deadlinesOf({ host }: ReturnType<typeof setUpService>): unknown[] {
  return host.calls.filter(({ call }) => call === "openThread").map((call) => call["deadline"]);
}

describe("[R71] the deadline of a delivered event", () => {
  test("is the one that the hook names", async () => {
    const setting = setUpService();
    const deadline = Date.now() + 5000;
    await setting.service.answer(delivered("PreToolUse.Bash", { id: eventId(Date.now(), 1), deadline }));
    expect(deadlinesOf(setting)).toEqual([{ at: deadline, reason: "late" }]);
  });

  test("follows from the event's name where the hook says no more", async () => {
    const setting = setUpService();
    const began = Date.now();
    await setting.service.answer(delivered("PreToolUse.Bash", { id: eventId(began, 1) }));
    expect(deadlinesOf(setting)).toEqual([{ at: began + DEADLINES.WORK_MS, reason: "late" }]);
  });

  test.each([undefined, { id: "" }, { id: "nonsense" }])("is none for an event named %j", async (wait) => {
    const setting = setUpService();
    expect(await setting.service.answer(delivered("PreToolUse.Bash", wait))).toBe("{}");
    expect(deadlinesOf(setting)).toEqual([undefined]);
  });
});

describe("[R60] an event that is delivered twice", () => {
  test("while it is carried out: is carried out once, and both get the answer", async () => {
    const { service, host } = setUpService();
    host.notices = ["Undid: add a parser"];
    const event = delivered("UserPromptSubmit", { id: eventId(Date.now(), 1) });
    const [first, second] = await Promise.all([service.answer(event), service.answer(event)]);
    expect(first).toContain("add a parser");
    expect(second).toBe(first);
    expect(host.story.filter((line) => line.startsWith("message"))).toHaveLength(1);
  });

  test("after it was carried out: gets the same answer again", async () => {
    const { service, host } = setUpService();
    host.notices = ["Undid: add a parser"];
    const event = delivered("UserPromptSubmit", { id: eventId(Date.now(), 1) });
    expect(await service.answer(event)).toBe(await service.answer(event));
    expect(host.story.filter((line) => line.startsWith("message"))).toHaveLength(1);
  });

  test("clears the note of a hook that left in between: nothing is left to make up for", async () => {
    const { service, home } = setUpService();
    const id = eventId(Date.now(), 1);
    const event = delivered("PreToolUse.Bash", { id });
    await service.answer(event);
    const { agent, cwd, environment } = event;
    const input = Buffer.from(event.input).toString("utf8");
    new OverduePlace(home, { agent, cwd }).leave({
      agent,
      cwd,
      environment,
      input,
      id,
      deadline: 0,
      worker: null,
    });
    expect(listOverdue(home)).toHaveLength(1);
    await service.answer(event);
    expect(existsSync(join(home, "agents/overdue"))).toBe(false);
  });

  test("under another name is another delivery, which the event's own key recognises", async () => {
    const { service, host } = setUpService();
    await service.answer(delivered("PreToolUse.Bash", { id: eventId(Date.now(), 1) }));
    await service.answer(delivered("PreToolUse.Bash", { id: eventId(Date.now(), 2) }));
    expect(host.story.filter((line) => line.startsWith("toolBefore"))).toHaveLength(1);
  });
});

test("an event of an unknown agent, or that is not JSON, gets the neutral answer or a warning", async () => {
  const { service } = setUpService();
  const unknown = { ...delivered("PreToolUse.Bash"), agent: "stranger" };
  expect(await service.answer(unknown)).toBe("{}");
  const broken = { ...delivered("PreToolUse.Bash"), input: Buffer.from("{") };
  expect(JSON.parse(await service.answer(broken))).toHaveProperty("systemMessage");
});
