import { describe, expect, test } from "vitest";
import type { BytePath } from "@belay/engine";
import { visibleLines } from "@belay/tui/text";
import { visible, visiblePath } from "./visible.ts";

describe("visible", () => {
  test("leaves ordinary text of any script alone", () => {
    for (const text of ["plain", "naïve café", "日本語", "👩‍👩‍👧 family", "a\u200cb"])
      expect(visible(text)).toBe(text);
  });

  test("spells out what a terminal would act on", () => {
    expect(visible("a\u001b[2Jb")).toBe("a\\x1b[2Jb");
    expect(visible("a\nb\tc\rd")).toBe("a\\nb\\tc\\rd");
    expect(visible("\u0000\u007f\u009b31m")).toBe("\\x00\\x7f\\x9b31m");
  });

  test("spells out marks that reverse or hide text", () => {
    expect(visible("txt.\u202egpj")).toBe("txt.\\u{202e}gpj");
    expect(visible("a\u2066b\u200bc\ufeff")).toBe("a\\u{2066}b\\u{200b}c\\u{feff}");
  });

  test("keeps line ends and tabs of longer text", () => {
    expect(visibleLines("a\n\tb\u001b]0;title\u0007\r\n")).toBe("a\n\tb\\x1b]0;title\\x07\\r\n");
  });
});

describe("visiblePath", () => {
  const path = (bytes: number[]) => Buffer.from(bytes).toString("latin1") as BytePath;

  test("shows UTF-8 as text", () => {
    expect(visiblePath(path([...Buffer.from("größe/日本.txt")]))).toBe("größe/日本.txt");
  });

  test("tells two names apart that are not UTF-8", () => {
    expect(visiblePath(path([0x61, 0xff, 0x62]))).toBe("a\\xffb");
    expect(visiblePath(path([0x61, 0xfe, 0x62]))).toBe("a\\xfeb");
  });
});
