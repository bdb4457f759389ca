/** The public interface of each package is written down, so that a review sees what a change does to callers. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { compareApi } from "./api/compare-api.ts";
import { describeApi, packagesWithApi, recordedApi } from "./api/describe-api.ts";

describe("the interface of", () => {
  test.each(packagesWithApi().map((directory) => ({ name: basename(directory), directory })))(
    "$name is the one in its api.md",
    ({ name, directory }) => {
      const [recorded, present] = [recordedApi(directory) ?? "", describeApi(directory)];
      if (recorded === present) return;
      const changes = compareApi(recorded, present).join("\n");
      expect.fail(
        `The interface of ${name} changed:\n\n${changes}\n\n` +
          "If that is meant, `npm run api` writes it down; commit packages/*/api.md with the change.",
      );
    },
  );

  test("every package but the command line is written down", () => {
    expect(packagesWithApi().map((directory) => basename(directory))).toEqual([
      "agents",
      "drop-in",
      "engine",
      "protocol",
      "react",
      "remote",
      "retrieval",
      "server",
      "syntax",
      "tui",
    ]);
  });
});

describe("what is written down", () => {
  let directory: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "belay-api-"));
    put(
      "package.json",
      '{ "name": "p", "exports": { ".": { "types": "./dist/index.d.ts" }, "./x": "./x.js" } }',
    );
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  function put(path: string, text: string): void {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }

  /** The declarations of a package that consists of this one file. */
  function api(text: string): string {
    put("dist/index.d.ts", text);
    return describeApi(directory);
  }

  const change = (before: string, after: string) => compareApi(api(before), api(after));

  test("comments, layout and private members are no part of it", () => {
    const before = "export declare class A { #private; private b; constructor(a: string); c(): void; }";
    const after = `/** New. */
      export declare class A {
        private other: string;
        #private;
        // here too
        constructor( a: string );
        /** C. */ c(): void;
      }`;
    expect(change(before, after.replace("( a: string )", "(a: string)"))).toEqual([]);
  });

  test("what is not exported, and not needed, is no part of it", () => {
    expect(change("export type A = string;", "type B = number; export type A = string; export {};")).toEqual(
      [],
    );
  });

  test("a member that comes, goes or changes is named with what it belongs to", () => {
    expect(
      change(
        "export interface A { a: string; b(c: number): void; }",
        "export interface A { a: string | null; d?: true; }",
      ),
    ).toEqual([
      "  interface A {",
      "-   a: string;",
      "-   b(c: number): void;",
      "+   a: string | null;",
      "+   d?: true;",
    ]);
  });

  test("a name that comes or goes is named", () => {
    expect(
      change("export declare function f(a: string): void;", "export declare function f(a: number): void;"),
    ).toEqual(["- function f(a: string): void;", "+ function f(a: number): void;"]);
  });

  test("another order of members is seen", () => {
    expect(change("export interface A { a: 1; b: 2; }", "export interface A { b: 2; a: 1; }")).toEqual([
      "  interface A {",
      "  (only the order changed)",
    ]);
  });

  test("another order of exports is not", () => {
    expect(change("export type A = 1; export type B = 2;", "export type B = 2; export type A = 1;")).toEqual(
      [],
    );
  });

  test("an overload that comes is seen", () => {
    const one = "export declare function f(a: string): void;";
    expect(change(one, `${one} export declare function f(a: number): void;`)).toEqual([
      "  function f(a: string): void;",
      "+   function f(a: number): void;",
    ]);
  });

  test("a part of a long union that comes is seen alone", () => {
    const part = (name: string) => `{ type: "${name}"; content: string; truncated: boolean }`;
    const union = (names: string[]) => `export type Event = ${names.map(part).join(" | ")};`;
    expect(change(union(["a", "b"]), union(["a", "b", "c"]))).toEqual([
      expect.stringContaining("type Event = "),
      `+   | ${part("c")}`,
    ]);
  });

  test("what an exported declaration needs is part of it, through files and other names", () => {
    const needed = (member: string) => {
      put("dist/deep/b.d.ts", `export interface B { ${member} } interface Alone {}`);
      put("dist/a.d.ts", 'export { B as Other } from "./deep/b.ts";');
      return api('import type { Other } from "./a.ts"; export type A = readonly Other[];');
    };
    const [before, after] = [needed("x: string;"), needed("x: number;")];
    expect(before).toContain("interface B {");
    expect(before).not.toContain("Alone");
    expect(compareApi(before, after)).toEqual(["  interface B {", "-   x: string;", "+   x: number;"]);
  });

  test("a member or parameter that is called like a declaration does not need it", () => {
    expect(api("declare const a: 1; export type T = { a: string; f(a: string): void };")).not.toContain(
      "const a",
    );
    expect(api("declare const a: 1; export type T = typeof a;")).toContain("const a: 1;");
  });

  test("declarations that need each other are written once", () => {
    const text = api("interface B { a?: A; } export interface A { b?: B; }");
    expect(text.match(/interface/g)).toHaveLength(3);
  });

  test("an export under another name, of a whole file, or of another package says so", () => {
    put("dist/b.d.ts", "export declare const one: 1; export declare const two: 2;");
    const text = api(
      'import * as all from "./b.ts"; export { all }; export { one as first } from "./b.ts"; export { z } from "zod";',
    );
    expect(text).toContain("// all: one, two");
    expect(text).toContain("// first is one\nconst one: 1;");
    expect(text).toContain("// z: of another package");
  });

  test("a shape that has a name is written once, and by its name elsewhere", () => {
    const shape =
      "z.ZodObject<{ id: z.ZodString; name: z.ZodNullable<z.ZodString>; size: z.ZodInt; kind: z.ZodString }, z.core.$strip>";
    const text = api(
      `import { z } from "zod"; export declare const file: ${shape};
       export declare const list: z.ZodObject<{ files: z.ZodArray<${shape}> }, z.core.$loose>;`,
    );
    expect(text).toContain(
      "const file: Object<{\n  id: String;\n  name: Nullable<String>;\n  size: Int;\n  kind: String\n}>;",
    );
    expect(text).toContain("const list: Object<{\n  files: Array<file>\n}, loose>;");
  });

  test("entries without declarations have no interface, and a missing file is an error", () => {
    expect(api("export type A = 1;")).not.toContain("p/x");
    rmSync(join(directory, "dist"), { recursive: true });
    expect(() => describeApi(directory)).toThrow("ENOENT");
  });
});
