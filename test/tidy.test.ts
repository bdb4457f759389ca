/**
 * The repository keeps its own rules (CONTRIBUTING.md). Each check is run on the repository, and on a file
 * made up to break it: a check that cannot fail protects nothing.
 */
import { describe, expect, test } from "vitest";
import {
  checkAgentsImports,
  checkCliImports,
  checkCycles,
  checkServerImports,
  checkFileAccess,
  checkLayers,
  checkLightProtocol,
} from "./tidy/imports.ts";
import {
  checkCitedLinesExist,
  checkLinesAreProved,
  checkOpenLines,
  CHECKLIST,
  OPEN_LINES,
} from "./tidy/checklist.ts";
import { checkCitedIncidentsExist, checkIncidentsAreReenacted, INCIDENTS } from "./tidy/incidents.ts";
import { checkSentences, checkWords, GLOSSARY } from "./tidy/language.ts";
import { checkFileNames, checkFrontDoor } from "./tidy/names.ts";
import { readRepository, type Check } from "./tidy/repository.ts";
import { checkFileSizes, longFiles, checkFunctionSizes } from "./tidy/sizes.ts";
import { checkCitationsExist, checkRulesAreProved, checkRulesAreUnique, SPEC } from "./tidy/spec-rules.ts";
import { checkSql } from "./tidy/sql.ts";
import { checkSurroundings } from "./tidy/surroundings.ts";
import { checkWorld } from "./tidy/world.ts";

const repository = readRepository();
const hasSpec = repository.some(({ path }) => path === SPEC);

describe("the engine", () => {
  test("imports from lower layers only", () => {
    expectClean(checkLayers);
    const broken = 'import "../store/pack.ts";';
    expectComplaint(checkLayers, "packages/engine/src/fs/planted.ts", broken);
    expectComplaint(
      checkLayers,
      "packages/engine/src/merge/planted.ts",
      'export { a } from "../history/step.ts";',
    );
    expectComplaint(
      checkLayers,
      "packages/engine/src/upkeep/planted.ts",
      'import type { A } from "../workspace.ts";',
    );
    expectComplaint(checkLayers, "packages/engine/src/store/planted.ts", 'await import("../diff/lines.ts");');
    expectComplaint(checkLayers, "packages/engine/src/model/planted.ts", 'type A = import("../fs/a.ts").A;');
    expectComplaint(checkLayers, "packages/engine/src/planted.ts", 'import "./testing/contract.ts";');
    expectComplaint(checkLayers, "packages/engine/src/planted.ts", 'import "../../cli/src/main.ts";');
    expectComplaint(checkLayers, "packages/engine/src/extras/planted.ts", "");
    expectNothing(checkLayers, "packages/engine/src/upkeep/planted.ts", broken);
    expectNothing(checkLayers, "packages/engine/src/fs/planted.test.ts", broken);
  });

  test("touches files and starts programs in src/fs only", () => {
    expectClean(checkFileAccess);
    for (const module of ["node:fs", "fs", "node:fs/promises", "node:child_process"]) {
      const broken = `import type { A } from "${module}";`;
      expectComplaint(checkFileAccess, "packages/engine/src/store/planted.ts", broken);
      expectComplaint(checkFileAccess, "packages/engine/src/planted.ts", `await import("${module}");`);
      expectNothing(checkFileAccess, "packages/engine/src/fs/planted.ts", broken);
      expectNothing(checkFileAccess, "packages/engine/src/testing/planted.ts", broken);
    }
  });

  test("asks the tables in the folders that keep them only", () => {
    expectClean(checkSql);
    for (const sql of ["SELECT a FROM b", "INSERT OR IGNORE INTO a", "DELETE FROM a", "UPDATE a SET b = 1"]) {
      const broken = `db.run("${sql}"); db.run(\`${sql} \${rest}\`);`;
      expectComplaint(checkSql, "packages/engine/src/steps/planted.ts", broken);
      expectNothing(checkSql, "packages/engine/src/history/planted.ts", broken);
    }
    expectNothing(
      checkSql,
      "packages/engine/src/steps/planted.ts",
      'const words = "Select one from the list";',
    );
  });

  test("reads neither clock nor process and prints nothing", () => {
    expectClean(checkWorld);
    const path = "packages/engine/src/store/planted.ts";
    expectComplaint(checkWorld, path, "export const at = new Date();");
    expectComplaint(checkWorld, path, "export const now = () => Date.now();");
    expectComplaint(checkWorld, path, "export const env = (process as object);");
    expectComplaint(checkWorld, path, "export const pid = globalThis.process.pid;");
    expectComplaint(checkWorld, path, "export const { env } = process;");
    expectComplaint(checkWorld, path, 'import { env } from "node:process";');
    expectComplaint(checkWorld, path, "console.log(1);");
    expectNothing(
      checkWorld,
      path,
      "// process.env\nexport const a = (d: Date) => ({ process: d.console });",
    );
    expectNothing(checkWorld, "packages/engine/src/fs/system.ts", "export const now = Date.now();");
  });

  test("lists its exports by name", () => {
    expectClean(checkFrontDoor);
    expectComplaint(checkFrontDoor, "packages/engine/src/index.ts", 'export * from "./workspace.ts";');
    expectComplaint(checkFrontDoor, "packages/engine/src/index.ts", 'export * as a from "./workspace.ts";');
    expectNothing(checkFrontDoor, "packages/engine/src/index.ts", 'export { a } from "./workspace.ts";');
  });
});

describe("every package", () => {
  test("imports from lower layers only", () => {
    const server = "packages/server/src/http/planted.ts";
    expectComplaint(checkLayers, server, 'import type { A } from "../routes/served.ts";');
    expectComplaint(checkLayers, server, 'import "../index.ts";');
    expectComplaint(checkLayers, "packages/server/src/extras/planted.ts", "");
    expectNothing(checkLayers, server, 'import "../json/index.ts";\nimport "./guard.ts";');
    const cli = "packages/cli/src/output/planted.ts";
    expectComplaint(checkLayers, cli, 'import type { Call } from "../call/command.ts";');
    expectComplaint(checkLayers, cli, 'await import("../main.ts");');
    expectComplaint(checkLayers, cli, 'import "../../../server/src/json/index.ts";');
    expectNothing(checkLayers, cli, 'import "../version.ts";');
    expectNothing(checkLayers, "packages/cli/src/planted.ts", 'import "./commands/list.ts";');
  });

  test("has no files that import each other", () => {
    expectClean(checkCycles);
    const place = (name: string) => `packages/cli/src/output/${name}.ts`;
    const cycle = (...texts: string[]) =>
      checkCycles(texts.map((text, index) => ({ path: place("abc"[index]!), text })));
    const to = (name: string) => `import type { A } from "./${name}.ts";`;
    expect(cycle(to("b"), to("c"), to("a"))).toEqual([
      `${place("a")}: imports itself through ${place("b")}, ${place("c")}`,
    ]);
    expect(cycle(to("b"), to("a"), to("a"))).toHaveLength(1);
    expect(cycle(to("b"), `type B = import("./a.ts").B;`, "")).toHaveLength(1);
    expect(cycle(to("a"), "", "")).toHaveLength(1);
    expect(cycle(to("b") + to("c"), to("c"), "")).toEqual([]);
    expect(cycle(to("missing"), to("a"), "")).toEqual([]);
  });
});

test("the protocol knows nobody, the server the protocol and the engine's front door", () => {
  expectClean(checkServerImports);
  expectComplaint(checkServerImports, "packages/protocol/src/planted.ts", 'import "@belay/engine";');
  expectComplaint(checkServerImports, "packages/server/src/planted.ts", 'import "@belay/agents";');
  expectComplaint(checkServerImports, "packages/server/src/planted.ts", 'import "@belay/engine/dist/x.js";');
  expectNothing(
    checkServerImports,
    "packages/server/src/planted.ts",
    'import "hono";\nimport "@belay/protocol";',
  );
});

test("what every command loads of the protocol loads nothing else", () => {
  expectClean(checkLightProtocol);
  const path = "packages/protocol/src/errors.ts";
  expectComplaint(checkLightProtocol, path, 'import { z } from "zod";');
  expectComplaint(checkLightProtocol, path, 'export { ROUTES } from "./routes.ts";');
  expectComplaint(checkLightProtocol, path, 'import { type Route } from "./routes.ts";');
  expectComplaint(checkLightProtocol, path, 'await import("node:path");');
  expectNothing(checkLightProtocol, path, 'import type { z } from "zod";\nimport "./exit-code.ts";');
  expectNothing(checkLightProtocol, path, 'export type { A } from "./routes.ts";\ntype B = import("zod").B;');
  expectNothing(checkLightProtocol, "packages/protocol/src/routes.ts", 'import { z } from "zod";');
});

test("the command line imports the packages' front doors and Node only", () => {
  expectClean(checkCliImports);
  const path = "packages/cli/src/commands/planted.ts";
  expectComplaint(checkCliImports, path, 'import "@belay/engine/dist/store/pack.js";');
  expectComplaint(checkCliImports, path, 'import "../../../engine/src/index.ts";');
  expectComplaint(checkCliImports, path, 'import "some-package";');
  expectNothing(checkCliImports, path, 'import "@belay/engine";\nimport "node:fs";\nimport "../output.ts";');
});

test("the agents' package knows neither engine nor server, and loads the protocol's SDK for MCP only", () => {
  expectClean(checkAgentsImports);
  const path = "packages/agents/src/planted.ts";
  expectComplaint(checkAgentsImports, path, 'import "@belay/engine";');
  expectComplaint(checkAgentsImports, path, 'import type { A } from "../../engine/src/index.ts";');
  expectComplaint(checkAgentsImports, path, 'await import("zod");');
  expectNothing(checkAgentsImports, path, 'import "node:fs";\nimport "./adapters/codex.ts";');
  expectComplaint(
    checkLayers,
    "packages/agents/src/adapters/planted.ts",
    'import "../handling/handle-event.ts";',
  );
  expectComplaint(checkLayers, "packages/agents/src/extras/planted.ts", "");
  const server = "packages/agents/src/mcp/planted.ts";
  expectNothing(checkAgentsImports, server, 'import "@modelcontextprotocol/server/stdio";\nimport "zod";');
});

describe("sizes and names", () => {
  test("files are short", () => {
    expectClean(checkFileSizes);
    const path = "packages/cli/src/planted.ts";
    expectComplaint(checkFileSizes, path, "let a;\n".repeat(601));
    expectNothing(checkFileSizes, path, `${"let a;\n".repeat(600)}${"// why\n\n".repeat(100)}`);
    expectNothing(checkFileSizes, path, `/*\n${"why\n".repeat(700)}*/\nlet a;\n`);
    for (const hint of longFiles(repository)) console.log(`long: ${hint}`);
  });

  test("functions are short", () => {
    expectClean(checkFunctionSizes);
    const body = (lines: number) => "// `{\n".repeat(lines - 2);
    for (const [start, end] of [
      ["function f(a = '}') {", "}"],
      ["const f = (): void => {", "};"],
      ["class A { static async *[key]<T>() {", "} }"],
    ]) {
      expectComplaint(checkFunctionSizes, "packages/cli/src/planted.ts", `${start}\n${body(71)}${end}\n`);
      expectNothing(checkFunctionSizes, "packages/cli/src/planted.ts", `${start}\n${body(70)}${end}\n`);
    }
    expectNothing(checkFunctionSizes, "test/planted.test.ts", `function f() {\n${body(71)}}\n`);
  });

  test("names say something", () => {
    expectClean(checkFileNames);
    for (const name of ["utils.ts", "shared/path.ts", "common.ts", "store-manager.ts", "test-helpers.ts"]) {
      expectComplaint(checkFileNames, `packages/cli/src/${name}`, "");
    }
    expectNothing(checkFileNames, "packages/cli/src/shared-attribution.ts", "");
  });
});

describe("the language", () => {
  test("has none of the glossary's words to avoid", () => {
    expectClean(checkWords);
    const glossary = {
      path: GLOSSARY,
      text: "## Words to avoid\n| word | instead |\n|---|---|\n| somebody, for ever | the actor |\n\n## Rest\n| nobody |",
    };
    const complaints = (path: string, text: string) => checkWords([glossary, { path, text }]);
    for (const text of ["/** Somebody waits. */", 'fail("Somebody wrote");', "fail(`${a} somebody`);"])
      expect(complaints("packages/engine/src/fs/a.ts", text), text).toHaveLength(1);
    expect(complaints("packages/engine/src/fs/a.ts", "/**\n * Kept for\n * ever.\n */")).toHaveLength(1);
    expect(complaints("bench/planted.md", "This is kept for\never.")).toHaveLength(1);
    expect(complaints("packages/engine/src/fs/a.ts", "const somebody = nobody; // the user")).toEqual([]);
    expect(complaints("bench/planted.md", "The caller waits forever.")).toEqual([]);
  });

  test("has a sentence for every exported name", () => {
    expectClean(checkSentences);
    const path = "packages/engine/src/fs/planted.ts";
    expectComplaint(checkSentences, path, '/** The file. */\nimport "a";\nexport interface A {}');
    expectComplaint(checkSentences, path, "// not a sentence\nexport const a = 1;");
    expectComplaint(checkSentences, path, "export function a(): void;\n/** Late. */\nexport function a() {}");
    expectNothing(checkSentences, path, "/** One. */\nexport function a(): void;\nexport function a() {}");
    expectNothing(checkSentences, path, '/** One. */\nexport class A {}\nexport { b } from "./b.ts";');
    expectNothing(checkSentences, "packages/cli/test/planted.ts", "export const a = 1;");
  });
});

describe("the specification", () => {
  const specification = { path: SPEC, text: "**R7** one\n| R8 | two |\n| **R9** | three, see R10 |" };
  const title = (ids: string) => `test.each(a)("[${ids}] holds", () => {});`;

  test.skipIf(!hasSpec)("has a test for each rule, and each rule that is cited", () => {
    expectClean(checkRulesAreProved);
    expectClean(checkRulesAreUnique);
    expect(checkRulesAreUnique([{ path: SPEC, text: "| R1 | a |\n| R1 | b |" }])).toHaveLength(1);
    expectClean(checkCitationsExist);
  });

  test("is missed where a rule has no test", () => {
    const text = `${title("R9").replace("test", "notATest")}\n${title("R7")}\n${title("I01, R8")}\ntest(\`[\${a}]\`, b);`;
    const complaints = checkRulesAreProved([specification, { path: "test/planted.test.ts", text }]);
    expect(complaints).toEqual(["R9: no test title cites it"]);
  });

  test("is missed where a citation has no rule", () => {
    const citing = (id: string) => [
      specification,
      { path: "packages/cli/src/a.ts", text: `// [I01, ${id}] a` },
    ];
    expect(checkCitationsExist(citing("R10"))).toHaveLength(1);
    expect(checkCitationsExist(citing("R7"))).toEqual([]);
  });
});

describe("the checklist", () => {
  const checklist = { path: CHECKLIST, text: "| id | what |\n|---|---|\n| A01 | one |\n| C02 | two |\n" };
  const open = (...ids: string[]) => ({ path: OPEN_LINES, text: ids.map((id) => `${id}\n`).join("") });
  const titled = (ids: string) => ({ path: "test/planted.test.ts", text: `test("[${ids}] holds", a);` });

  test("has a test for every line that is not listed as open", () => {
    expectClean(checkLinesAreProved);
    expectClean(checkOpenLines);
  });

  test("is missed where a line has no test", () => {
    expect(checkLinesAreProved([checklist, open(), titled("A01")])).toHaveLength(1);
    expect(checkLinesAreProved([checklist, open(), titled("A01, C02")])).toEqual([]);
    expect(checkLinesAreProved([checklist, open("C02"), titled("A01")])).toEqual([]);
    expect(checkLinesAreProved([checklist, open("C02"), titled("C02")])).toHaveLength(1);
    expect(checkOpenLines([checklist, open("C03")])).toHaveLength(1);
    expect(checkOpenLines([checklist, open("C02", "C02")])).toHaveLength(1);
  });

  test("is missed where a line that is cited is none", () => {
    expectClean(checkCitedLinesExist);
    expect(checkCitedLinesExist([checklist, titled("A01, C03")])).toHaveLength(1);
    expect(checkCitedLinesExist([checklist, titled("A01, C02, R4")])).toEqual([]);
  });
});

test("every incident has a test, and every incident that a test cites is one", () => {
  expectClean(checkIncidentsAreReenacted);
  expectClean(checkCitedIncidentsExist);
  const incidents = (more = "") => ({ path: INCIDENTS, text: `| I01 | one |\n| I02 | two |\n${more}` });
  const titled = (ids: string) => ({ path: "test/planted.test.ts", text: `test("[${ids}] holds", a);` });
  expect(checkIncidentsAreReenacted([incidents(), titled("I01")])).toHaveLength(1);
  expect(checkIncidentsAreReenacted([incidents("I02 has no test: it cannot."), titled("I01")])).toEqual([]);
  expect(
    checkIncidentsAreReenacted([incidents("I02 has no test: it cannot."), titled("I01, I02")]),
  ).toHaveLength(1);
  expect(checkCitedIncidentsExist([incidents(), titled("I01, I03")])).toHaveLength(1);
  expect(checkCitedIncidentsExist([incidents(), titled("I01, I02")])).toEqual([]);
});

test("the repository speaks of itself alone", () => {
  expectClean(checkSurroundings);
  for (const folder of ["work", "root", "home/me", "Users/me"]) {
    expectComplaint(checkSurroundings, "docs/planted.md", `see /${folder}/notes.md`);
  }
  expectComplaint(
    checkSurroundings,
    "package-lock.json",
    ['"resolved": "http', "://registry/a.tgz"].join(""),
  );
  expectComplaint(checkSurroundings, ".npmrc", ["registry", "=http://127.0.0.1"].join(""));
  expectNothing(checkSurroundings, "docs/planted.md", "see packages/work/root/ and /home/you/project");
});

function expectClean(check: Check): void {
  expect(check(repository)).toEqual([]);
}

function expectComplaint(check: Check, path: string, text: string): void {
  expect(check([{ path, text }]), `${path}: ${text.slice(0, 200)}`).toHaveLength(1);
}

function expectNothing(check: Check, path: string, text: string): void {
  expect(check([{ path, text }])).toEqual([]);
}
