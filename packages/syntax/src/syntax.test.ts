import { beforeAll, describe, expect, test } from "vitest";
import { createSyntax } from "./syntax.ts";

const syntax = createSyntax();
beforeAll(() =>
  syntax.load("a.ts a.tsx a.js a.py a.go a.rs a.java a.rb a.php a.cs a.css a.sh a.c a.d.ts".split(" ")),
);

/** The names that are used and declared nowhere. */
function freeNames(path: string, text: string): string[] {
  const { declared, used } = syntax.names(path, text)!;
  return [...used.keys()].filter((name) => !declared.has(name)).sort();
}

test("what was not loaded, and what has no grammar, is unknown", async () => {
  expect(createSyntax().parses("a.ts", "let a")).toBeUndefined();
  await syntax.load(["a.txt", "Makefile", "constructor", "a.toString"]);
  expect(syntax.parses("a.txt", "text")).toBeUndefined();
  expect(syntax.sameSyntax("Makefile", "a", "a")).toBeUndefined();
});

test.each([
  ["a.ts", "const a: number = 1;", "const a: = 1;"],
  ["a.js", "const a = <b />;", "const a = 1;\nconst a = 2;"],
  ["a.d.ts", "export declare function f(a: number): void;", "export declare function f(a: number: void;"],
  ["a.py", "def f():\n    return 1\n", "def f(:\n    return 1\n"],
  ["a.go", "package a\nfunc f() int { return 1 }\n", "package a\nfunc f( int { return 1 }\n"],
  ["a.rs", "fn f() -> i32 { 1 }", "fn f() -> i32 { 1"],
  ["a.java", "class A { int f() { return 1; } }", "class A { int f() { return 1; }"],
  ["a.rb", "def f\n  1\nend\n", "def f\n  1\n"],
  ["a.php", "<?php function f() { return 1; }", "<?php function f( { return 1; }"],
  ["a.cs", "class A { int F() { return 1; } }", "class A { int F() { return 1; }"],
  ["a.css", "a { color: red; }", "a { color: red; "],
  ["a.sh", "if a; then b; fi\n", "if a; then b;\n"],
  ["a.c", "int f(void) { return 1; }", "int f(void) { return 1; "],
])("[M43] %s: good and broken code", (path, good, broken) => {
  expect(syntax.parses(path, good)).toBe(true);
  expect(syntax.parses(path, broken)).toBe(false);
});

test.each([
  ["a.ts", "f(a, b);\nlet x = (1);", "f(\n  a,\n  b,\n)\nlet x = 1"],
  ["a.tsx", "const a = <b c='d'>{e}</b>;", "const a = <b   c='d'>{ e }</b>"],
  ["a.ts", "// first\nlet a; // b", "// first\n\n\nlet a;   // b"],
  ["a.py", "f(a, b)\n", "f(\n    a,\n    b,\n)\n"],
  ["a.py", "if a:\n  b\n", "if a:\n        b\n"],
  ["a.go", "package a\nfunc f() { g(1) }\n", "package a\n\nfunc f() {\n\tg(1)\n}\n"],
  ["a.rs", "fn f() { g(1, 2) }", "fn f() {\n    g(\n        1,\n        2,\n    )\n}"],
  ["a.css", "a{color:red}", "a {\n  color: red\n}\n"],
])("[M43] %s: the same code in another layout", (path, a, b) => {
  expect(syntax.sameSyntax(path, a, b)).toBe(true);
});

test.each([
  ["a word", "a.ts", "f(a);", "f(b);"],
  ["a string", "a.ts", "f('a b');", "f('a  b');"],
  ["a template", "a.ts", "f(`a\n b`);", "f(`a\n  b`);"],
  ["text in JSX", "a.tsx", "const a = <b>c d</b>;", "const a = <b>c  d</b>;"],
  ["a comment", "a.ts", "f(a); // one", "f(a); // two"],
  ["the place of a comment", "a.ts", "// off\nf(a);\ng(b);", "f(a);\n// off\ng(b);"],
  ["a precedence", "a.ts", "f((a + b) * c);", "f(a + b * c);"],
  ["a return that ends early", "a.ts", "() => { return a; }", "() => { return\na; }"],
  ["a block", "a.py", "if a:\n  b\n  c\n", "if a:\n  b\nc\n"],
  ["a long string", "a.py", 'x = """a\n  b"""\n', 'x = """a\n b"""\n'],
  ["a comment", "a.py", "f() # one\n", "f() # two\n"],
  ["a tuple of one", "a.py", "x = a\n", "x = a,\n"],
  ["a string", "a.go", 'package a\nvar b = "c d"\n', 'package a\nvar b = "c  d"\n'],
  ["a selector", "a.css", "a b { c: d }", "a > b { c: d }"],
  ["a quoted word", "a.sh", "echo 'a  b'\n", "echo 'a b'\n"],
  ["code that does not parse", "a.ts", "f(", "f(  "],
])("[M43] [R97] %s is no layout", (_, path, a, b) => {
  expect(syntax.sameSyntax(path, a, b)).toBe(false);
});

describe("names", () => {
  test("JavaScript: declarations of every kind, and uses that are no variables", () => {
    const code = `
      import one, { two as three, four } from "x";
      import * as five from "y";
      export { other } from "z";
      label: for (const [six, { seven: eight = nine }] of ten) { break label; }
      function eleven(twelve, ...thirteen) { return { key: twelve, four, [computed]: 1 }; }
      class Fourteen extends Base { method() { this.member.chain; } }
      try { one(three, five); } catch (fifteen) { fifteen; }
      const element = <Component attribute={six} other="a"><div>{eight}</div></Component>;
      export { element as renamed };`;
    expect(freeNames("a.js", code)).toEqual(["Base", "Component", "computed", "nine", "ten"]);
  });

  test("TypeScript: types count", () => {
    const code = `
      type A<T> = { [K in keyof T]: T[K] } & B;
      interface C extends D { member: E; method(parameter: F): void; [index: string]: G }
      enum H { I }
      function f(this: J, a: typeof k, b?: L.M): a is N { return H.I; }
      class O { constructor(private readonly p: P) {} }`;
    expect(freeNames("a.ts", code)).toEqual(["B", "D", "E", "F", "G", "J", "L", "N", "P", "k"]);
  });

  test("Python", () => {
    const code = `
from .a import b as c, d
import e.f, g as h
def i(j, k=l, *m, n: o = 1, **p):
    with q as r:
        s, (t, u) = r.v
    for w in x: pass
    try: pass
    except Y as z: z
    return [aa for aa in j if (bb := cc(dd=aa))]
`;
    expect(freeNames("a.py", code)).toEqual(["Y", "cc", "l", "o", "q", "x"]);
  });

  test("Go", () => {
    const code = `package a
import (
  "fmt"
  q "x/y"
  "gopkg.in/yaml.v3"
  "x/z/v2"
)
type T struct { Field int }
func (r *T) m(a int, b ...string) (c Other) {
  x, err := fmt.Foo(a)
  for i, v := range x { r.Field = v + i }
  var t q.T = T{Field: yaml.N(z.P)}
  return unknown(t, err)
}
`;
    expect(freeNames("a.go", code)).toEqual(["Other", "int", "string", "unknown"]);
  });

  test("a use has its line; other languages have no names", () => {
    expect(syntax.names("a.ts", "\n\nf(\n  later);")!.used.get("later")).toBe(4);
    expect(syntax.names("a.rs", "fn f() {}")).toBeUndefined();
  });
});

describe("imports", () => {
  test("JavaScript: every form, relative ones only, as the files they may mean", () => {
    const code = `
      import a from "./a";
      export * from "../b.js";
      const c = require("./c.json");
      import("./d");
      import e from "elsewhere";`;
    const found = syntax.imports("src/x/file.ts", code)!;
    expect(found.map(({ specifier, line }) => [specifier, line])).toEqual([
      ["./a", 2],
      ["../b.js", 3],
      ["./c.json", 4],
      ["./d", 5],
    ]);
    expect(found[0]!.candidates).toEqual(expect.arrayContaining(["src/x/a.ts", "src/x/a/index.js"]));
    expect(found[1]!.candidates.slice(0, 2)).toEqual(["src/b.js", "src/b.ts"]);
    expect(syntax.imports("file.ts", 'import "../outside";')![0]!.candidates).toEqual([]);
  });

  test("Python: relative and absolute", () => {
    const found = syntax.imports("pkg/sub/file.py", "from ..a import b\nfrom . import c\nimport d.e\n")!;
    expect(found.map(({ candidates }) => candidates[0])).toEqual(["pkg/a.py", "pkg/sub/c.py", "d/e.py"]);
  });
});
