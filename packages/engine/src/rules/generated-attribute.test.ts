import { expect, test } from "vitest";
import type { BytePath } from "../model/byte-path.ts";
import { createGeneratedAttribute } from "./generated-attribute.ts";

const FILES: Readonly<Record<string, string>> = {
  ".gitattributes": `# comment
*.pb.go linguist-generated
/dist/** linguist-generated=true diff
exact.txt text linguist-generated
docs/*.md -linguist-generated
plain.txt text
`,
  "sub/.gitattributes": "*.pb.go linguist-generated=false\r\nnew.* linguist-generated\r\n",
};
const isGenerated = createGeneratedAttribute((path) => {
  const text = FILES[path];
  return text === undefined ? undefined : Buffer.from(text);
});

test.each([
  "a.pb.go",
  "deep/down/a.pb.go",
  "dist/x/y.js",
  "exact.txt",
  "a/exact.txt",
  "sub/new.txt",
  "sub/x/new.c",
])("[R97] %s is generated", (path) => expect(isGenerated(path as BytePath)).toBe(true));

test.each(["a.go", "lib/dist/x.js", "docs/a.md", "plain.txt", "sub/a.pb.go", "sub/x/a.pb.go", "new.txt"])(
  "%s is not",
  (path) => expect(isGenerated(path as BytePath)).toBe(false),
);
