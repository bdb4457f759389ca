import { expect, test } from "vitest";
import { isBinary } from "./content-kind.ts";

test("a NUL makes a content binary", () => {
  expect(isBinary(Buffer.from("text\0"))).toBe(true);
  expect(isBinary(Buffer.from("text", "utf16le"))).toBe(true);
});

test("other odd bytes do not", () => {
  expect(isBinary(Buffer.from([0xff, 0xfe, 0x01, 0x7f]))).toBe(false);
  expect(isBinary(Buffer.alloc(0))).toBe(false);
});

test("only the first 8 KiB decide", () => {
  expect(isBinary(Buffer.from(`${"x".repeat(8191)}\0`))).toBe(true);
  expect(isBinary(Buffer.from(`${"x".repeat(8192)}\0`))).toBe(false);
});
