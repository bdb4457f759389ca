import { useState, type ReactNode } from "react";
import { describe, expect, test, vi } from "vitest";
import { useFrame, useKeys } from "../src/frame/frame.tsx";
import { hintTexts, type Binding } from "../src/frame/keys.ts";
import { ansi, box, fit, line, lineText, span, withRemark } from "../src/frame/line.ts";
import { Page } from "../src/frame/page.tsx";
import { useTextField } from "../src/frame/text-field.ts";
import { colourDepthOf } from "../src/terminal/colours.ts";
import { ASCII, signsOf, UNICODE } from "../src/terminal/signs.ts";
import { KEYS, Window } from "./support/window.tsx";

/** A list that counts what its keys did; `o` opens a question, which `y` answers. */
function List({ answered }: { readonly answered: () => void }): ReactNode {
  const frame = useFrame();
  const [moved, setMoved] = useState(0);
  const keys = useKeys([
    { keys: ["down", "j"], hint: { key: "↑↓", text: "navigate" }, run: () => setMoved((n) => n + 1) },
    {
      keys: ["o", "y", "enter"],
      hint: { text: "open" },
      run: () => frame.open(<Question answered={answered} />, { question: true }),
    },
    { keys: ["q"], hint: { text: "quit", line: 2 }, run: () => frame.quit() },
  ]);
  return <Page body={[line(`moved ${moved}`), line("x".repeat(300))]} keys={keys} />;
}

function Question({ answered }: { readonly answered: () => void }): ReactNode {
  const frame = useFrame();
  const keys = useKeys([
    {
      keys: ["y"],
      hint: { text: "do it" },
      run: () => {
        answered();
        frame.say([line("✓ Done.")]);
        frame.close();
      },
    },
    { keys: ["esc"], hint: { text: "cancel" }, run: () => frame.close() },
  ]);
  return <Page body={[line("Really")]} keys={keys} />;
}

function Field(): ReactNode {
  const frame = useFrame();
  const field = useTextField("ab");
  const keys = useKeys(
    [...field.table, { keys: ["enter"], run: () => frame.say([line(`said ${field.text}`)]) }],
    { typed: field.typed },
  );
  return <Page body={[[span("Name: "), ...field.shown("█")]]} keys={keys} />;
}

describe("the frame", () => {
  test("the screen on top draws and has the keys; the one below keeps its state", async () => {
    await using window = await Window.open(<List answered={() => {}} />);
    await window.press("j", KEYS.down, "o");
    expect(window.lines[0]).toBe("Really");
    await window.press("j", KEYS.esc);
    await window.shows("moved 2");
  });

  test("the last lines are the rule and the hints; what an action did stays above them", async () => {
    await using window = await Window.open(<List answered={() => {}} />, { columns: 40, rows: 8 });
    expect(window.lines).toHaveLength(8);
    expect(window.lines.slice(-3)).toEqual(["─".repeat(40), "↑↓ navigate | o open", "q quit"]);
    expect(window.lines[1]).toBe(`${"x".repeat(39)}…`);
    await window.press("o", "y");
    expect(window.lines.at(-4)).toBe("✓ Done.");
    await window.resize(30, 6);
    expect(window.lines).toHaveLength(6);
  });

  test("[R292] text that comes in one piece answers no question, nor does a key that is held down", async () => {
    let answers = 0;
    // a key is held down for as long as it repeats within a time that a busy machine may exceed
    let now = 1000;
    using _ = vi.spyOn(performance, "now").mockImplementation(() => now);
    await using window = await Window.open(<List answered={() => answers++} />);
    await window.press("o", "yy", "\u001b[200~y\u001b[201~");
    expect(answers).toBe(0);
    await window.press(KEYS.esc, "y", "y", "y");
    expect(answers).toBe(0);
    await window.press("j", "y");
    expect(answers).toBe(1);
    await window.press("y");
    now += 701;
    await window.press("y");
    expect(answers).toBe(2);
  });

  test("[R292] a key that was pressed before a question could be read does not answer it", async () => {
    let answers = 0;
    await using window = await Window.open(<List answered={() => answers++} />);
    await window.press(`${KEYS.down}o${KEYS.down}y${KEYS.down}`);
    await window.shows(/^Really/);
    expect(answers).toBe(0);
  });

  test("keys of one piece stop at the screen that one of them opened", async () => {
    let answers = 0;
    await using window = await Window.open(<List answered={() => answers++} />);
    await window.press("jjoy");
    await window.shows(/^Really/);
    expect(answers).toBe(0);
    await window.press(KEYS.esc);
    await window.shows("moved 2");
  });

  test("[R292] Enter is a key, also behind others that came at once", async () => {
    let answers = 0;
    await using window = await Window.open(<List answered={() => answers++} />);
    await window.press("jj\r");
    await window.shows(/^Really/);
    expect(answers).toBe(0);
    await window.press(KEYS.esc);
    await window.shows("moved 2");
  });

  test("pasted text is typed into a field and triggers no key", async () => {
    await using window = await Window.open(<Field />);
    await window.press("\u001b[200~c\rd\u001b[201~");
    expect(window.lines[0]).toBe("Name: abc d█");
    await window.press(KEYS.backspace, KEYS.left, "é", "日");
    expect(window.lines[0]).toBe("Name: abcé日");
    await window.press("\u0015");
    expect(window.lines[0]).toBe("Name:");
  });

  test("Ctrl-C ends with the code of an interrupted command", async () => {
    await using window = await Window.open(<List answered={() => {}} />);
    await window.press("o", "\u0003");
    expect(window.exit).toBe(130);
  });
});

describe("lines", () => {
  test("[R293] are cut by columns, with a mark", () => {
    expect(lineText(fit([span("ab"), span("cdef", { bold: true })], 4, UNICODE))).toBe("abc…");
    expect(lineText(fit(line("日本語"), 4, UNICODE))).toBe("日…");
    expect(lineText(fit(line("abcdef"), 5, ASCII))).toBe("ab...");
  });

  test("a remark stands at the right edge and is never cut", () => {
    const place = { width: 20, signs: UNICODE };
    expect(lineText(withRemark(line("short"), line("undone"), place))).toBe("short         undone");
    expect(lineText(withRemark(line("a long description"), line("undone"), place))).toBe(
      "a long desc…  undone",
    );
  });

  test("boxes have the width they were given", () => {
    expect(box([line("text")], { width: 12, signs: UNICODE, title: "Keys" }).map(lineText)).toEqual([
      "╭─ Keys ───╮",
      "│ text     │",
      "╰──────────╯",
    ]);
  });

  test("[R293] controls never reach the terminal", () => {
    expect(ansi([span("a\u001b[2Jb\u0007c")], "many")).toBe("ab\ufffdc");
  });

  test("without colours, bold and underlined stay", () => {
    const look = { colour: "green", bold: true } as const;
    expect(ansi([span("x", look)], "few")).toBe("\u001b[1;32mx\u001b[22;39m");
    expect(ansi([span("x", look)], "none")).toBe("\u001b[1mx\u001b[22m");
    expect(ansi([span("x", look)], "plain")).toBe("x");
  });
});

describe("the terminal", () => {
  test.each([
    [{ TERM: "xterm-256color", LANG: "en_GB.UTF-8" }, "linux", UNICODE],
    [{ TERM: "xterm", LANG: "C" }, "linux", ASCII],
    [{ TERM: "linux", LANG: "en_GB.UTF-8" }, "linux", ASCII],
    [{ TERM: "dumb", LANG: "en_GB.UTF-8" }, "darwin", ASCII],
    [{ LC_ALL: "C", LANG: "en_GB.UTF-8", TERM: "xterm" }, "linux", ASCII],
    [{}, "win32", ASCII],
    [{ WT_SESSION: "1" }, "win32", UNICODE],
  ] as const)("signs of %j on %s", (environment, platform, signs) => {
    expect(signsOf(environment, platform)).toBe(signs);
  });

  test.each([
    [{ TERM: "xterm-256color" }, true, "many"],
    [{ TERM: "xterm" }, true, "few"],
    [{ TERM: "xterm", COLORTERM: "truecolor" }, true, "many"],
    [{ TERM: "xterm", NO_COLOR: "1" }, true, "none"],
    [{ TERM: "xterm" }, false, "none"],
    [{ TERM: "dumb" }, true, "plain"],
  ] as const)("colours of %j, wanted: %s", (environment, wanted, depth) => {
    expect(colourDepthOf(environment, wanted)).toBe(depth);
  });
});

describe("hints", () => {
  const table: Binding[] = ["u undo", "r redo", "p pending", "? help", "q quit"].map((text) => ({
    keys: [text[0]!],
    hint: { text: text.slice(2), line: 2 },
    run: () => {},
  }));

  test("what does not fit leaves, the help and the way out stay", () => {
    expect(hintTexts(table, { width: 80, signs: UNICODE })).toEqual([
      "u undo  r redo  p pending  ? help  q quit",
    ]);
    expect(hintTexts(table, { width: 30, signs: UNICODE })).toEqual(["u undo  r redo  ? help  q quit"]);
    expect(hintTexts(table, { width: 22, signs: UNICODE })).toEqual(["u undo  ? help  q quit"]);
  });
});
