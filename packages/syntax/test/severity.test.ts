/** Severity by real parsers: what a merge by lines cannot see. */
import { beforeAll, describe, expect, test } from "vitest";
import { mergeFiles as merge, type Files } from "../../engine/test/support/merge-lab.ts";
import { createSyntax } from "../src/index.ts";

const syntax = createSyntax();
beforeAll(() => syntax.load(["a.ts", "a.py", "a.go"]));
const mergeFiles = (base: Files, ours: Files, theirs: Files) => merge(base, ours, theirs, syntax);
const told = ({ conflicts }: ReturnType<typeof merge>) =>
  conflicts.map(({ path, kind, severity, facts: [fact] }) => [
    path,
    kind,
    severity,
    fact!.code,
    fact!.detail,
  ]);

const CODE = `import { a } from "./a.ts";

export function first(): number {
  return a(1);
}

export function second(list: number[]): number {
  const sum = list.reduce((x, y) => x + y, 0);
  return sum;
}
`;

describe("format", () => {
  test("[M05] [M43] [M44] [R97] one side re-formats, the other changes the code: low, and the change is taken", () => {
    const formatted = CODE.replace(
      "list.reduce((x, y) => x + y, 0);",
      "list.reduce(\n    (x, y) => x + y,\n    0,\n  );",
    );
    const changed = CODE.replace("x + y, 0", "x + y, 1");
    for (const [ours, theirs] of [
      [formatted, changed],
      [changed, formatted],
    ] as const) {
      const result = mergeFiles({ "x.ts": CODE }, { "x.ts": ours }, { "x.ts": theirs });
      expect(result.files).toEqual({ "x.ts": changed });
      expect(result.merged).toEqual([{ path: "x.ts", severity: "low", how: "format" }]);
    }
  });

  test("both sides re-format differently: ours stays", () => {
    const [ours, theirs] = ["return a(\n    1,\n  );", "return (a(1));"].map((text) =>
      CODE.replace("return a(1);", text),
    );
    const result = mergeFiles({ "x.ts": CODE }, { "x.ts": ours! }, { "x.ts": theirs! });
    expect(result.files).toEqual({ "x.ts": ours! });
    expect(result.merged).toMatchObject([{ severity: "low", how: "format" }]);
  });

  test("[M43] an indentation that changes a block of Python is no format", () => {
    const base = "def f(a):\n    if a:\n        g()\n        h()\n    return a\n";
    const moved = base.replace("        h()", "    h()");
    const changed = base.replace("h()", "h(a)");
    const result = mergeFiles({ "x.py": base }, { "x.py": moved }, { "x.py": changed });
    expect(result.merged).toEqual([]);
    expect(result.conflicts).toHaveLength(1);
  });
});

describe("broken results", () => {
  test("[M43] both declare the same name at different places: critical, with the merge as a proposal", () => {
    const ours = CODE.replace("export function first", "const limit = 1;\n\nexport function first");
    const theirs = `${CODE}\nconst limit = 2;\n`;
    const result = mergeFiles({ "x.ts": CODE }, { "x.ts": ours }, { "x.ts": theirs });
    expect(told(result)).toEqual([
      ["x.ts", "content", "critical", "syntax", "the merged text does not parse, though both sides do"],
    ]);
    expect(result.conflicts[0]!.proposal!.toString()).toBe(`${ours}\nconst limit = 2;\n`);
    expect(result.files).toEqual({ "x.ts": ours });
  });

  test.each([
    [
      "an import",
      "x.ts",
      CODE,
      CODE.replace('import { a } from "./a.ts";\n\n', "").replace("a(1)", "1"),
      CODE.replace("return sum;", "return a(sum);"),
      "`a` is no longer declared by ours but used by theirs (line 7)",
    ],
    [
      "a renamed function",
      "x.py",
      "def helper():\n    return 1\n\n\ndef other():\n    return 2\n\n\nprint(other())\n",
      "def better():\n    return 1\n\n\ndef other():\n    return 2\n\n\nprint(other())\n",
      "def helper():\n    return 1\n\n\ndef other():\n    return 2\n\n\nprint(other(), helper())\n",
      "`helper` is no longer declared by ours but used by theirs (line 9)",
    ],
    [
      "a package",
      "x.go",
      'package x\n\nimport "fmt"\n\nfunc f() {\n\tfmt.Println(1)\n}\n\nfunc g() {\n\treturn\n}\n',
      "package x\n\nfunc f() {\n\tprintln(1)\n}\n\nfunc g() {\n\treturn\n}\n",
      'package x\n\nimport "fmt"\n\nfunc f() {\n\tfmt.Println(1)\n}\n\nfunc g() {\n\tfmt.Println(2)\n}\n',
      "`fmt` is no longer declared by ours but used by theirs (line 8)",
    ],
  ])(
    "[M43] [M42] one side removes %s, the other adds a use: critical, and the reason names it",
    (_, path, base, ours, theirs, detail) => {
      const result = mergeFiles({ [path]: base }, { [path]: ours }, { [path]: theirs });
      expect(told(result)).toEqual([[path, "content", "critical", "name", detail]]);
      const swapped = mergeFiles({ [path]: base }, { [path]: theirs }, { [path]: ours });
      expect(told(swapped)).toMatchObject([
        [path, "content", "critical", "name", expect.stringContaining("declared by theirs but used by ours")],
      ]);
    },
  );

  test("a name that was free before, or is declared elsewhere in the result, is not lost", () => {
    const theirs = CODE.replace("return sum;", "return globalThing(sum);");
    const ours = CODE.replace("a(1)", "globalThing(2)");
    expect(mergeFiles({ "x.ts": CODE }, { "x.ts": ours }, { "x.ts": theirs }).conflicts).toEqual([]);
  });
});

describe("modules", () => {
  const user = { "src/user.ts": 'export const user = "u";\n' };
  const use = 'import { user } from "./user.ts";\nexport const x = user;\n';

  test("[M43] ours deletes a file that a new file of theirs imports", () => {
    const result = mergeFiles(user, {}, { ...user, "src/new.ts": use });
    expect(told(result)).toEqual([
      [
        "src/new.ts",
        "content",
        "critical",
        "module",
        "ours deleted or moved src/user.ts, which theirs imports (line 1)",
      ],
    ]);
    expect(result.files).toEqual({});
    expect(result.conflicts[0]!.proposal!.toString()).toBe(use);
  });

  test("[M43] theirs deletes a file that ours imports: it stays until the import is decided", () => {
    const result = mergeFiles(user, { ...user, "src/new.ts": use }, {});
    expect(told(result)).toMatchObject([["src/new.ts", "content", "critical", "module", expect.anything()]]);
    expect(result.files).toEqual({ ...user, "src/new.ts": use });
    expect(result.notMerged).toEqual([{ path: "src/user.ts", reason: "new.ts still imports it" }]);
  });

  test("a module that both sides agree on, or that was replaced, is not lost", () => {
    expect(
      mergeFiles(
        user,
        { "src/user/index.ts": user["src/user.ts"] },
        { ...user, "src/new.ts": use.replace("./user.ts", "./user") },
      ).conflicts,
    ).toEqual([]);
    const old = { ...user, "src/new.ts": use };
    expect(
      mergeFiles(old, { "src/new.ts": use }, { ...old, "src/new.ts": `${use}// more\n` }).conflicts,
    ).toEqual([]);
  });
});
