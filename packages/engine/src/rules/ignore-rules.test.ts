import { describe, expect, test } from "vitest";
import { pathFromText, type BytePath } from "../model/byte-path.ts";
import { IGNORE_FILE_PATHS, type IgnoreLayer, type RecordedIgnoreFile } from "../model/rules.ts";
import { createRules, IGNORE_FILE_LIMIT, type DirectoryRules, type RulesInput } from "./ignore-rules.ts";

const FILE = false;
const DIRECTORY = true;

describe("defaults", () => {
  const rules = createRules({});

  test.each([
    "node_modules",
    ".venv",
    "venv",
    "env",
    ".next",
    ".turbo",
    "dist",
    "build",
    ".cache",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    "target",
    "coverage",
    ".tox",
    ".vercel",
    ".nyc_output",
  ])("[L47] [A44] [A45] the directory %s is left out at any depth, a file of that name is not", (name) => {
    expect(rules.verdict(name, DIRECTORY)).toEqual({ excludedBy: `default: ${name}` });
    expect(rules.child("src", {}).verdict(name, DIRECTORY)).toEqual({ excludedBy: `default: ${name}` });
    expect(rules.verdict(name, FILE)).toBe("captured");
  });

  test.each(["a.pyc", "a.pyo", "lib.so", "lib.dylib", "a.b.dll"])("[A46] %s is left out", (name) => {
    expect(rules.verdict(name, FILE)).toEqual({
      excludedBy: `default: *${name.slice(name.lastIndexOf("."))}`,
    });
  });

  test.each([".hidden", ".github", ".gitignore", ".gitattributes", ".gitmodules", "so", "src"])(
    "[A43] %s is captured",
    (name) => {
      expect(rules.verdict(name, FILE)).toBe("captured");
      expect(rules.verdict(name, DIRECTORY)).toBe("captured");
    },
  );
});

describe("layers", () => {
  test("[A42] the stronger layer decides: defaults, info/exclude, .gitignore, .belayignore", () => {
    const layers: Partial<Record<IgnoreLayer, string>> = {};
    const verdict = () => rulesWith(layers).verdict("build", DIRECTORY);
    expect(verdict()).toEqual({ excludedBy: "default: build" });
    layers.exclude = "!build";
    expect(verdict()).toBe("captured");
    layers.gitignore = "x\nbuild/";
    expect(verdict()).toEqual({ excludedBy: ".gitignore:2" });
    layers.belayignore = "!build/";
    expect(verdict()).toBe("captured");
    layers.belayignore = "!build/\n\n/build";
    expect(verdict()).toEqual({ excludedBy: ".belayignore:3" });
  });

  test("[A42] a deeper .gitignore wins over a shallower one, any .belayignore over both", () => {
    const root = rulesWith({ gitignore: "*.log" });
    const inner = root.child("a", { gitignore: Buffer.from("!keep.log\n") });
    expect(inner.verdict("keep.log", FILE)).toBe("captured");
    expect(inner.verdict("other.log", FILE)).toEqual({ excludedBy: ".gitignore:1" });
    const strict = rulesWith({ gitignore: "*.log", belayignore: "keep.*" });
    const below = strict.child("a", { gitignore: Buffer.from("!keep.log\n") }).child("b", {});
    expect(below.verdict("keep.log", FILE)).toEqual({ excludedBy: ".belayignore:1" });
  });

  test("a verdict names the file and line", () => {
    const rules = rulesWith({})
      .child("packages", {})
      .child("a", { gitignore: Buffer.from("\n# x\n\nout\n") });
    expect(rules.verdict("out", FILE)).toEqual({ excludedBy: "packages/a/.gitignore:4" });
    const nested = rulesWith({}).child("sub", { exclude: Buffer.from("secret") });
    expect(nested.verdict("secret", FILE)).toEqual({ excludedBy: "sub/.git/info/exclude:1" });
    expect(nested.child("deep", {}).verdict("secret", FILE)).toEqual({
      excludedBy: "sub/.git/info/exclude:1",
    });
  });
});

describe("[R132] what git ignores, since version 2", () => {
  const rulesOf = (texts: Partial<Record<IgnoreLayer, string>>, more: RulesInput = {}) =>
    createRules({ ...rulesInput(texts), defaultsVersion: 2, ...more });

  test("is captured within a budget, but for defaults and noise", () => {
    const rules = rulesOf({ gitignore: "data/\n*.key\n*.log\ndist/\nscratch\n", exclude: "mine\n" });
    expect(rules.verdict("data", DIRECTORY)).toBe("ignored");
    expect(rules.verdict("a.key", FILE)).toBe("ignored");
    expect(rules.verdict("mine", FILE)).toBe("ignored");
    expect(rules.verdict("a.log", FILE)).toEqual({ excludedBy: ".gitignore:3" });
    expect(rules.verdict("dist", DIRECTORY)).toEqual({ excludedBy: ".gitignore:4" });
    const data = rules.child("data", { gitignore: Buffer.from("x\n"), belayignore: Buffer.from("big/\n") });
    expect(data.verdict("x", FILE)).toBe("ignored");
    expect(data.verdict("big", DIRECTORY)).toEqual({ excludedBy: "data/.belayignore:1" });
    expect(data.verdict("run.pid", FILE)).toEqual({ excludedBy: "default: *.pid" });
    expect(data.verdict("node_modules", DIRECTORY)).toEqual({ excludedBy: "default: node_modules" });
    // noise is noise only where git ignores it
    expect(rulesOf({}).verdict("a.log", FILE)).toBe("captured");
  });

  test.each(["a.swp", "a~", ".DS_Store", "x.lock", "x.sock", "x.tmp", "lcov.lcov", ".coverage", "a.o"])(
    "%s is noise",
    (name) => expect(rulesOf({ gitignore: "*" }).verdict(name, FILE)).toEqual({ excludedBy: ".gitignore:1" }),
  );

  test("[R134] .belayignore has the last word, unless a capture includes the path by name", () => {
    const listed = ["secret/a", "b", ".env"].map(pathFromText);
    const texts = { belayignore: "secret/\nb\n.env*\n" };
    const rules = rulesOf(texts, { tracked: listed, named: listed });
    for (const name of ["b", ".env"]) expect(rules.verdict(name, FILE)).toHaveProperty("excludedBy");
    expect(rules.verdict("secret", DIRECTORY)).toEqual({ excludedBy: ".belayignore:1" });
    const including = rulesOf(texts, { tracked: listed, included: listed });
    for (const name of ["b", ".env"]) expect(including.verdict(name, FILE)).toBe("captured");
    expect(including.verdict("secret", DIRECTORY)).toBe("only-listed");
    const secret = including.child("secret", {});
    expect(secret.verdict("a", FILE)).toBe("captured");
    expect(secret.verdict(".env", FILE)).toEqual({ excludedBy: ".belayignore:1" });
  });

  test("over its budget a directory is left out, but for what is tracked", () => {
    const overBudget = [{ path: pathFromText("data"), reason: ".gitignore:1, more than 2000 files" }];
    const rules = rulesOf({ gitignore: "data/" }, { overBudget });
    expect(rules.verdict("data", DIRECTORY)).toEqual({ excludedBy: ".gitignore:1, more than 2000 files" });
    const tracked = [pathFromText("data/t")];
    const withTracked = rulesOf({ gitignore: "data/" }, { overBudget, tracked });
    expect(withTracked.verdict("data", DIRECTORY)).toBe("only-listed");
    expect(withTracked.child("data", {}).verdict("t", FILE)).toBe("captured");
    expect(withTracked.child("data", {}).verdict("u", FILE)).toHaveProperty("excludedBy");
  });
});

describe("a workspace inside a repository", () => {
  const input = (gitignore: string, prefix = "packages/a"): RulesInput => ({
    defaultsVersion: GIT_EXCLUDES,
    prefix: pathFromText(prefix),
    ignoreFiles: [
      file("../../.gitignore", "gitignore", gitignore),
      file("../.gitignore", "gitignore", "/a/local\n"),
    ],
  });

  test("[A42] obeys the ignore files above it", () => {
    const rules = createRules(input("*.log\n/packages/a/tmp\n/tmp2\npackages/*/gen-*\n"));
    expect(rules.verdict("x.log", FILE)).toEqual({ excludedBy: "../../.gitignore:1" });
    expect(rules.verdict("tmp", DIRECTORY)).toEqual({ excludedBy: "../../.gitignore:2" });
    expect(rules.verdict("tmp2", DIRECTORY)).toBe("captured");
    expect(rules.verdict("gen-1", FILE)).toEqual({ excludedBy: "../../.gitignore:4" });
    expect(rules.verdict("local", FILE)).toEqual({ excludedBy: "../.gitignore:1" });
    expect(rules.child("src", {}).verdict("tmp", DIRECTORY)).toBe("captured");
  });

  test("is not emptied by a rule that ignores the workspace itself", () => {
    const rules = createRules(input("packages/\n*.log\n"));
    expect(rules.verdict("index.ts", FILE)).toBe("captured");
    expect(rules.verdict("x.log", FILE)).toBe("captured");
    expect(rules.verdict("local", FILE)).toEqual({ excludedBy: "../.gitignore:1" });
    expect(createRules(input("*", "dist/a")).verdict("index.ts", FILE)).toBe("captured");
  });
});

describe("never captured", () => {
  test.each([
    ".git",
    ".GIT",
    ".Git",
    "git~1",
    "GIT~1",
    ".git.",
    ".git ",
    ".git. .",
    ".git::$INDEX_ALLOCATION",
    ".git:x",
    ".git\\x",
    "\u200c.git",
    ".g\u200cit",
    ".git\ufeff",
    ".\u202egit",
  ])("[A47] %j, which some file system takes for .git", (text) => {
    const name = pathFromText(text);
    const rules = createRules({ named: [name], ...rulesInput({ belayignore: "!*\n" }) });
    expect(rules.verdict(name, DIRECTORY)).toEqual({ excludedBy: "always: .git" });
    expect(rules.verdict(name, FILE)).toEqual({ excludedBy: "always: .git" });
  });

  test.each([".gitx", "git", "git~2", "git~10", ".git-x", "x.git", "\u200cgit", ".gitignore "])(
    "but %j is captured",
    (text) => {
      expect(createRules({}).verdict(pathFromText(text), FILE)).toBe("captured");
    },
  );

  test("[A47] our own staging, even if a tool or ignore file names it", () => {
    const name = pathFromText(".belay-stage-abc");
    const rules = createRules({ named: [name], ...rulesInput({ belayignore: "!.belay-stage-*\n" }) });
    expect(rules.verdict(name, DIRECTORY)).toEqual({ excludedBy: "always: .belay-stage-*" });
  });

  test("a given directory, with its reason, even if tracked or re-included", () => {
    const rules = createRules({
      ...rulesInput({ belayignore: "!worktrees\n!worktrees/x\n" }),
      excluded: [{ path: pathFromText("worktrees/x"), reason: "a linked git worktree" }],
      tracked: [pathFromText("worktrees/x/a")],
    }).child("worktrees", {});
    expect(rules.verdict("x", DIRECTORY)).toEqual({ excludedBy: "a linked git worktree" });
    expect(rules.verdict("y", DIRECTORY)).toBe("captured");
  });
});

describe("always captured", () => {
  test.each([".env", ".env.local", ".env.production.local", ".envrc"])(
    "[I25] %s, whatever the ignore files say",
    (name) => {
      const rules = rulesWith({ gitignore: "*\n.env*\n", belayignore: ".env*\n" });
      expect(rules.verdict(name, FILE)).toBe("captured");
      expect(rules.verdict(name, DIRECTORY)).toEqual({ excludedBy: ".belayignore:1" });
    },
  );

  test("[A76] what a tool named, alone among what is ignored", () => {
    const rules = createRules({ named: [pathFromText("dist/js/out.js")] });
    expect(rules.verdict("dist", DIRECTORY)).toBe("only-listed");
    const dist = rules.child("dist", { belayignore: Buffer.from("!*") });
    expect(dist.verdict("other.js", FILE)).toEqual({ excludedBy: "default: dist" });
    expect(dist.verdict("css", DIRECTORY)).toEqual({ excludedBy: "default: dist" });
    expect(dist.verdict("js", DIRECTORY)).toBe("only-listed");
    const js = dist.child("js", {});
    expect(js.verdict("out.js", FILE)).toBe("captured");
    expect(js.verdict("out.js.map", FILE)).toEqual({ excludedBy: "default: dist" });
    expect(js.verdict(".git", DIRECTORY)).toEqual({ excludedBy: "always: .git" });
  });

  test("what git tracks although it is ignored", () => {
    const tracked = ["a-b", "a.log", "a/x.log", "vendor/lib/index.js"].map(pathFromText);
    const rules = createRules({ ...rulesInput({ gitignore: "*.log\nvendor/\n/a-b\n" }), tracked });
    expect(rules.verdict("a.log", FILE)).toBe("captured");
    expect(rules.verdict("b.log", FILE)).toEqual({ excludedBy: ".gitignore:1" });
    expect(rules.verdict("a-b", FILE)).toBe("captured");
    expect(rules.child("a", {}).verdict("x.log", FILE)).toBe("captured");
    expect(rules.verdict("vendor", DIRECTORY)).toBe("only-listed");
    expect(rules.child("vendor", {}).verdict("lib", DIRECTORY)).toBe("only-listed");
    expect(rules.child("vendor", {}).verdict("li", DIRECTORY)).toEqual({ excludedBy: ".gitignore:2" });
  });

  test("lists need not be sorted", () => {
    const rules = createRules({ named: ["z/1", "dist/b", "dist/a"].map(pathFromText) });
    expect(rules.child("dist", {}).verdict("a", FILE)).toBe("captured");
  });
});

describe("[A48] the syntax of ignore files", () => {
  const ignores = (text: string, name: string, isDirectory = FILE) =>
    typeof rulesWith({ gitignore: text }).verdict(name, isDirectory) === "object";

  test("dir/ is not for files, nor for links to directories", () => {
    expect(ignores("x/", "x", DIRECTORY)).toBe(true);
    expect(ignores("x/", "x", FILE)).toBe(false);
  });

  test("line ends, byte order marks and spaces", () => {
    expect(ignores("a\r\nb\r\n", "a")).toBe(true);
    expect(ignores("a\r\nb\r", "b")).toBe(true);
    expect(ignores("\ufeffa\n", "a")).toBe(true);
    expect(ignores("a  \n", "a")).toBe(true);
    expect(ignores("a\\ \n", "a ")).toBe(true);
    expect(ignores("a\t\n", "a")).toBe(false);
  });

  test("names and patterns are bytes", () => {
    const name = "\xff\xfe.x";
    expect(
      createRules({ defaultsVersion: GIT_EXCLUDES, ignoreFiles: [latin1File("\xff?.x")] }).verdict(
        name,
        FILE,
      ),
    ).toEqual({
      excludedBy: ".gitignore:1",
    });
    expect(
      createRules({ defaultsVersion: GIT_EXCLUDES, ignoreFiles: [latin1File("?.x")] }).verdict(name, FILE),
    ).toBe("captured");
  });

  test("what is below an ignored directory cannot be taken back", () => {
    const rules = createRules({ ...rulesInput({ gitignore: "a/\n!a/b\n" }), named: [pathFromText("a/c")] });
    expect(rules.child("a", {}).verdict("b", FILE)).toEqual({ excludedBy: ".gitignore:1" });
  });
});

describe("hostile ignore files", () => {
  const slow = 2000;

  test("wildcards do not explode", { timeout: slow }, () => {
    const name = "a".repeat(250);
    const patterns = [
      "*a".repeat(100) + "b",
      "a*".repeat(100) + "b",
      "*?".repeat(60) + "b",
      "[a-z]*".repeat(60) + "b",
    ];
    const paths = ["**/a*/".repeat(40) + "b", "/**/a/**/".repeat(30) + "b", "*a*/".repeat(30) + "b"];
    let rules = rulesWith({ gitignore: [...patterns, ...paths].join("\n") });
    for (let depth = 0; depth < 15; depth += 1) rules = rules.child(name, {});
    for (let times = 0; times < 100; times += 1) expect(rules.verdict(name, FILE)).toBe("captured");
  });

  test("a file beyond the limit ends with its last whole line", () => {
    const filling = "# filling\n".repeat(IGNORE_FILE_LIMIT / 10);
    const rules = rulesWith({ gitignore: `first\n${filling}last\n` });
    expect(rules.verdict("first", FILE)).toEqual({ excludedBy: ".gitignore:1" });
    expect(rules.verdict("last", FILE)).toBe("captured");
    const cut = rulesWith({ gitignore: `first\n${"x".repeat(IGNORE_FILE_LIMIT - 10)}\nyz\n` });
    expect(cut.verdict("first", FILE)).toEqual({ excludedBy: ".gitignore:1" });
    expect(cut.verdict("y", FILE)).toBe("captured");
  });

  test("many wildcard rules are bounded", { timeout: slow }, () => {
    const rules = rulesWith({ gitignore: Array.from({ length: 100_000 }, (_, at) => `*a${at}*`).join("\n") });
    for (let at = 0; at < 300; at += 1) expect(rules.verdict(`ab-${at}`, FILE)).toBe("captured");
  });

  test.each([
    "[",
    "[]",
    "[!",
    "[[:",
    "[[:x",
    "[a-",
    "\\",
    "!",
    "/",
    "//",
    "**",
    "***/",
    "!/",
    "\0",
    "\0\r",
    "a\0b",
    "[\\",
    "",
    "   ",
  ])("%j throws nothing", (text) => {
    const rules = rulesWith({ gitignore: `${text}\n!${text}/\n`, belayignore: text });
    expect(() => rules.child("a", {}).verdict("b", FILE)).not.toThrow();
  });
});

function rulesWith(texts: Partial<Record<IgnoreLayer, string>>): DirectoryRules {
  return createRules(rulesInput(texts));
}

/** The version of the rules by which what git ignores is left out: its verdicts are git's. */
const GIT_EXCLUDES = 1;

function rulesInput(texts: Partial<Record<IgnoreLayer, string>>): RulesInput {
  const layers = Object.entries(texts) as [IgnoreLayer, string][];
  return {
    defaultsVersion: GIT_EXCLUDES,
    ignoreFiles: layers.map(([layer, text]) => file(IGNORE_FILE_PATHS[layer], layer, text)),
  };
}

function file(path: string, layer: IgnoreLayer, text: string): RecordedIgnoreFile {
  return { path: path as BytePath, layer, content: Buffer.from(text) };
}

function latin1File(text: string): RecordedIgnoreFile {
  return { ...file(".gitignore", "gitignore", ""), content: Buffer.from(text, "latin1") };
}
