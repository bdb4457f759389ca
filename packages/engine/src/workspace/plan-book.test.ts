import { mkdtempSync, realpathSync, rmSync, writeFileSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { BytePath } from "../model/byte-path.ts";
import type { OperationId, WorkspaceId } from "../model/ids.ts";
import { EMPTY_PLAN, type Plan } from "../model/plan.ts";
import type { ObjectHash } from "../model/object-hash.ts";
import { openWorkspace } from "../opening/init-workspace.ts";
import { stepsWay } from "../steps/steps-way.ts";
import { PlanBook } from "./plan-book.ts";
import { stepRequest } from "./way-back-requests.ts";

const HERE = "kkkkkkkkkkkkkkkk" as WorkspaceId;
const ELSEWHERE = "llllllllllllllll" as WorkspaceId;
const STALE = { code: "PLAN_STALE" };
const MINUTE = 60_000;
const way = stepsWay(stepRequest("undo", {}));

function planCalled(id: string, kind: Plan["kind"] = "undo"): Plan {
  const base = "0".repeat(64) as ObjectHash;
  return {
    ...EMPTY_PLAN,
    id: id as OperationId,
    kind,
    description: "",
    checkpoint: null,
    thread: null,
    base,
  };
}

let now = 0;
let book: PlanBook;
beforeEach(() => {
  now = 1000;
  book = new PlanBook({ elapsed: () => now, validMs: 10 * MINUTE });
});

describe("a plan", () => {
  test("is found as often as it is looked for, and taken once", () => {
    const plan = book.keep(HERE, { plan: planCalled("a"), seen: undefined }, way);
    expect(book.find(HERE, "a")).toBe(plan);
    expect(book.find(HERE, "a")).toBe(plan);
    expect(book.take(HERE, "a")).toMatchObject({ plan, way });
    expect(() => book.find(HERE, "a")).toThrow(expect.objectContaining(STALE));
    expect(() => book.take(HERE, "a")).toThrow(expect.objectContaining(STALE));
  });

  test("that is not of the right kind is stale, and stays for the one it is for", () => {
    book.keep(HERE, { plan: planCalled("a", "undo"), seen: undefined }, way);
    expect(() => book.find(HERE, "a", ({ kind }) => kind === "redo")).toThrow(expect.objectContaining(STALE));
    expect(book.find(HERE, "a", ({ kind }) => kind === "undo").id).toBe("a");
  });

  test("belongs to the workspace it was made in", () => {
    book.keep(HERE, { plan: planCalled("a"), seen: undefined }, way);
    expect(() => book.find(ELSEWHERE, "a")).toThrow(expect.objectContaining(STALE));
    expect(() => book.take(ELSEWHERE, "a")).toThrow(expect.objectContaining(STALE));
    expect(book.take(HERE, "a").plan.id).toBe("a");
  });

  test("that was declined is stale; declining one that is not known does nothing", () => {
    book.keep(HERE, { plan: planCalled("a"), seen: undefined }, way);
    book.discard("b");
    book.discard("a");
    expect(() => book.find(HERE, "a")).toThrow(expect.objectContaining(STALE));
  });

  test("of many files pushes out older ones, and the newest is kept however large it is", () => {
    const path = "f" as BytePath;
    const large = (id: string, files: number): Plan => ({
      ...planCalled(id),
      edits: Array.from({ length: files }, () => ({ path, from: undefined, to: undefined })),
    });
    for (const id of ["a", "b", "c"]) book.keep(HERE, { plan: large(id, 90_000), seen: undefined }, way);
    expect(() => book.find(HERE, "a")).toThrow(expect.objectContaining(STALE));
    expect([book.find(HERE, "b").id, book.find(HERE, "c").id]).toEqual(["b", "c"]);
    book.keep(HERE, { plan: large("d", 300_000), seen: undefined }, way);
    expect(() => book.find(HERE, "c")).toThrow(expect.objectContaining(STALE));
    expect(book.find(HERE, "d").id).toBe("d");
  });

  test.each([
    ["not yet", 10 * MINUTE - 1, true],
    ["exactly then", 10 * MINUTE, false],
    ["long since", 1000 * MINUTE, false],
  ])("expires: %s", (_, passed, isValid) => {
    book.keep(HERE, { plan: planCalled("a"), seen: undefined }, way);
    now += passed;
    const found = () => book.find(HERE, "a");
    if (isValid) expect(found().id).toBe("a");
    else expect(found).toThrow(expect.objectContaining(STALE));
  });

  test("does not expire with an older one", () => {
    book.keep(HERE, { plan: planCalled("old"), seen: undefined }, way);
    now += 6 * MINUTE;
    book.keep(HERE, { plan: planCalled("new"), seen: undefined }, way);
    now += 6 * MINUTE;
    expect(() => book.find(HERE, "old")).toThrow(expect.objectContaining(STALE));
    expect(book.find(HERE, "new").id).toBe("new");
  });

  test("is kept for an hour unless said otherwise", () => {
    const other = new PlanBook({ elapsed: () => now });
    other.keep(HERE, { plan: planCalled("a"), seen: undefined }, way);
    now += 59 * MINUTE;
    expect(other.find(HERE, "a").id).toBe("a");
    now += MINUTE;
    expect(() => other.find(HERE, "a")).toThrow(expect.objectContaining(STALE));
  });
});

test("only the latest hundred are kept", () => {
  for (let made = 0; made < 250; made += 1)
    book.keep(HERE, { plan: planCalled(String(made)), seen: undefined }, way);
  expect(() => book.find(HERE, "149")).toThrow(expect.objectContaining(STALE));
  expect(book.find(HERE, "150").id).toBe("150");
  expect(book.find(HERE, "249").id).toBe("249");
});

test("a stale plan says which it is, that nothing was changed and what to do", () => {
  expect(() => book.find(HERE, "gone")).toThrow(
    expect.objectContaining({
      facts: { plan: "gone" },
      message: expect.stringMatching(/Nothing was changed; make a new plan\.$/),
    }),
  );
});

describe("in a workspace", () => {
  let base: string;
  let options: { home: string; plans: PlanBook };
  let project: string;
  beforeEach(() => {
    base = realpathSync(mkdtempSync(join(tmpdir(), "belay-book-")));
    project = mkdtempSync(join(base, "project-"));
    options = { home: join(base, "home"), plans: book };
    writeFileSync(join(project, "a"), "one");
  });
  afterEach(() => rmSync(base, { recursive: true }));
  const read = () => readFileSync(join(project, "a"), "utf8");

  test("every plan that was looked at is in its book, and leaves it when it is carried out", async () => {
    await using workspace = await openWorkspace(project, options);
    writeFileSync(join(project, "a"), "two");
    const plan = await workspace.planRestore("1");
    expect(workspace.plans).toBe(book);
    expect(book.find(workspace.id, plan.id)).toBe(plan);
    expect((await workspace.restore(plan)).outcome).toBe("applied");
    expect(read()).toBe("one");
    await expect(workspace.restore(plan)).rejects.toMatchObject(STALE);
  });

  test("what is carried out is the plan in the book, whatever the caller made of it", async () => {
    await using workspace = await openWorkspace(project, options);
    writeFileSync(join(project, "a"), "two");
    const plan = await workspace.planRestore("1");
    await workspace.restore({ ...plan, edits: [], base: "f".repeat(64) as ObjectHash });
    expect(read()).toBe("one");
  });

  test("a plan outlives the opening it was made in, and is still bound to the files", async () => {
    const first = await openWorkspace(project, options);
    writeFileSync(join(project, "a"), "two");
    const [plan, other] = [await first.planRestore("1"), await first.planRestore("1")];
    await first.close();
    await using second = await openWorkspace(project, options);
    expect((await second.restore(book.find(second.id, plan.id))).outcome).toBe("applied");
    expect(read()).toBe("one");
    writeFileSync(join(project, "a"), "three");
    await expect(second.restore(other)).rejects.toMatchObject(STALE);
    expect(read()).toBe("three");
  });

  test("without a book of the caller's, a plan lasts as long as the opening", async () => {
    const first = await openWorkspace(project, { home: options.home });
    writeFileSync(join(project, "a"), "two");
    const plan = await first.planRestore("1");
    await first.close();
    await using second = await openWorkspace(project, { home: options.home });
    await expect(second.restore(plan)).rejects.toMatchObject(STALE);
    expect(read()).toBe("two");
  });

  test("the plan of a reset is in it, too", async () => {
    await using workspace = await openWorkspace(project, options);
    const { id } = await workspace.threads.create({ agent: "test" });
    writeFileSync(join(project, "a"), "two");
    const plan = await workspace.approvals.planReset(id);
    expect(book.find(workspace.id, plan.id)).toBe(plan);
    expect((await workspace.restore(plan)).outcome).toBe("applied");
    expect(read()).toBe("one");
  });
});
