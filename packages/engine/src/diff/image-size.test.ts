import { expect, test } from "vitest";
import { imageSize } from "./image-size.ts";

const be16 = (value: number) => [value >> 8, value & 255];
const le16 = (value: number) => [value & 255, value >> 8];
const latin1 = (text: string) => [...Buffer.from(text, "latin1")];

const PNG = Buffer.from([...latin1("\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), 0, 0, ...be16(640), 0, 0, ...be16(480)]);
const GIF = Buffer.from([...latin1("GIF89a"), ...le16(300), ...le16(200)]);
const JPEG = Buffer.from([
  ...latin1("\xff\xd8\xff\xe0\0\x06\x01\x02\x03\x04"),
  ...latin1("\xff\xc2\0\x11\x08"),
  ...be16(600),
  ...be16(800),
]);
const LOSSY = Buffer.from([
  ...latin1("RIFF\0\0\0\0WEBPVP8 \0\0\0\0"),
  ...latin1("\0\0\0\x9d\x01\x2a"),
  ...le16(550),
  ...le16(368),
]);
// 14 bits of width - 1, then 14 bits of height - 1
const LOSSLESS = Buffer.from([...latin1("RIFF\0\0\0\0WEBPVP8L\0\0\0\0/"), 0x83, 0xc1, 0x4a, 0]);
const EXTENDED = Buffer.from([
  ...latin1("RIFF\0\0\0\0WEBPVP8X\0\0\0\0\0\0\0\0"),
  ...le16(1199),
  0,
  ...le16(799),
  0,
]);

test.each([
  ["png", PNG, 640, 480],
  ["gif", GIF, 300, 200],
  ["jpeg", JPEG, 800, 600],
  ["webp", LOSSY, 550, 368],
  ["webp", LOSSLESS, 388, 300],
  ["webp", EXTENDED, 1200, 800],
] as const)("%s", (format, bytes, width, height) => {
  expect(imageSize(bytes)).toEqual({ format, width, height });
});

test("a file that is cut off, or no image, has no size", () => {
  for (const whole of [PNG, GIF, JPEG, LOSSY, LOSSLESS, EXTENDED])
    for (let length = 0; length < whole.length; length++)
      expect(imageSize(whole.subarray(0, length)), `${length} bytes`).toBeUndefined();
  expect(imageSize(Buffer.from("just text that is long enough for every header"))).toBeUndefined();
  expect(imageSize(Buffer.from([0xff, 0xd8, 0x00, 0x00, 0x00, 0x00]))).toBeUndefined();
});
