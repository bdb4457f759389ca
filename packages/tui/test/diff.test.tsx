import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { TimelineScreen } from "../src/screens/timeline/timeline.tsx";
import { changedWords } from "../src/screens/diff/changed-words.ts";
import { syntaxOf } from "../src/screens/diff/syntax.ts";
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

/** The diff of the second row, at its third file: the payment client. */
async function openDiff(options: WindowOptions = {}): Promise<Window> {
  const window = await Window.open(<TimelineScreen />, { place: project.place, ...options });
  await window.shows(/Snapshot Timeline \(Current/);
  await window.press("j", "d");
  await window.shows("file 1 of 5");
  await window.press("j", "j");
  await window.shows("M src/payments/client.ts");
  await window.shows("hunk 1 of 2");
  return window;
}

describe("the diff", () => {
  test("[M79] has numbers of both sides, the sign in its own column, folds and hunks as in the picture", async () => {
    await using window = await openDiff();
    expect(window.lines[0]).toMatch(
      /^Before "Add retry with exponential .*-> {2}after +file 3 of 5 {3}\+5 -2$/,
    );
    expect(window.lines[2]).toBe(" M src/payments/client.ts");
    expect(window.lines.slice(3, 14)).toEqual([
      '@@ -16,7 +16,10 @@ import { part15 } from "./part15.ts";           › hunk 1 of 2',
      "  16  16",
      "  17  17  class PaymentClient {",
      "  18  18    async charge(request: ChargeRequest): Promise<Charge> {",
      '  19     -    const response = await this.http.post("/charges", request);',
      "      19 +    const response = await withBackoff(() =>",
      '      20 +      this.http.post("/charges", request, { key: request.key }),',
      "      21 +      { attempts: 5, baseMs: 250, retryOn: isTransient },",
      "      22 +    );",
      "  20  23      return parseCharge(response);",
      "  21  24    }",
    ]);
    expect(window.text).toMatch(/^ {5}… \d+ unchanged lines \(Enter shows them\)$/m);
    expect(window.lines.slice(-2)).toEqual([
      "↑↓ scroll | . , hunk | j k file | s split | w whitespace | / find | Esc back",
      expect.stringContaining("y copy hunk  Y copy as patch"),
    ]);
  });

  test("Enter shows the lines that were folded", async () => {
    await using window = await openDiff();
    await window.press(KEYS.enter);
    await window.shows("hunk 1 of 1");
    expect(window.text).not.toContain("unchanged lines");
  });

  test("[M79] code has colours where there are 256, and words that differ are underlined", async () => {
    await using window = await openDiff({ depth: "many" });
    await window.press(".");
    const line = window.raw.split("\n").find((each) => each.includes("503"))!;
    expect(line).toContain("\u001b[38;5;133mreturn");
    expect(line).toContain("\u001b[38;5;130m503");
    expect(window.raw).toContain('\u001b[38;5;65m"/charges"');
    expect(line).toContain("\u001b[4m");
    await using few = await openDiff({ depth: "few" });
    expect(few.raw).not.toContain("38;5;");
  });

  test("s puts both sides beside each other, as wide windows do at once", async () => {
    await using window = await openDiff();
    await window.press("s");
    expect(window.text).toMatch(/19 - +const response = await.* │ +19 \+ +const response = await/);
    await window.press("s");
    expect(window.text).not.toMatch(/19 - .* │ +19 \+/);
  });

  test("y copies the hunk, Y the file as a patch that names both sides", async () => {
    await using window = await openDiff();
    await window.press(".", "y");
    await window.shows("Copied hunk 2 of 2.");
    const copied = (at: number) =>
      Buffer.from(window.written[at]!.slice("]52;c;".length + 1, -1), "base64").toString();
    expect(copied(0)).toMatch(/^--- a\/src\/payments\/client\.ts\n\+\+\+ b\/src\/payments\/client\.ts\n@@ /);
    expect(copied(0)).toContain("+  return error.status === 429 || error.status >= 500;");
    expect(copied(0)).not.toContain("withBackoff");
    await window.press("Y");
    await window.shows("Copied src/payments/client.ts as a patch.");
    expect(copied(1)).toContain("withBackoff");
  });

  test("/ finds text, counts it and goes on in the next files", async () => {
    await using window = await openDiff();
    await window.press("/", "transient", KEYS.enter);
    expect(await window.shows(/Find: transient█ +1 of \d/)).toContain("isTransient");
    await window.press(KEYS.esc, KEYS.esc);
    await window.shows("navigate");
  });

  test("what has no lines says what it is: binary, too long, moved, a mode", async () => {
    writeFileSync(join(project.project, "blob.bin"), Buffer.from([0, 1, 2, 3]));
    writeFileSync(join(project.project, "long.txt"), "line\n".repeat(6000));
    await using window = await Window.open(<TimelineScreen />, { place: project.place });
    await window.shows(/Snapshot Timeline/);
    await window.press("5", "G", "d");
    await window.shows("A blob.bin");
    await window.shows("Binary: nothing -> 4 B");
    for (let pressed = 0; pressed < 20 && !window.text.includes("A long.txt"); pressed += 1)
      await window.press("j");
    expect(await window.shows("6,000 changed lines: Enter shows them.")).not.toContain("+line");
    await window.press(KEYS.enter);
    await window.shows("+line");
  });
});

describe("words that differ", () => {
  test("are found inside lines that are alike, and not where lines have nothing in common", () => {
    expect(changedWords("return a === 503;", "return a === 429 || a >= 500;")).toEqual([
      [{ from: 13, to: 16 }],
      [{ from: 13, to: 28 }],
    ]);
    expect(changedWords("const x = 1;", "function other() {}")).toBeUndefined();
  });
});

describe("colours of code", () => {
  test.each([
    ["a.ts", 'const a = "x"; // why', ["keyword", "string", "comment"]],
    ["a.py", "def f(): # why", ["keyword", "comment"]],
    ["a.sql", "SELECT 1 -- why", ["keyword", "number", "comment"]],
    ["Makefile.unknown", "const", undefined],
  ])("%s %s", (path, line, parts) => {
    const tokens = syntaxOf(path)?.(line);
    expect(tokens?.flatMap(({ code }) => code ?? [])).toEqual(parts);
    if (tokens !== undefined) expect(tokens.map(({ text }) => text).join("")).toBe(line);
  });
});
