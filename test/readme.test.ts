/** What the README shows is what there is. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { listSettings, RETENTION_PRESETS } from "../packages/engine/src/index.ts";
import { CHECKPOINT_PRESETS } from "../packages/engine/src/model/policy.ts";

const readme = readFileSync("README.md", "utf8");
const { scripts } = JSON.parse(readFileSync("package.json", "utf8")) as { scripts: Record<string, string> };

test("every command in the README is a command", () => {
  const named = [...readme.matchAll(/(?:^\$ |`)belay ([a-z]+)/gm)].map((match) => match[1]!);
  const rows = [...readme.matchAll(/^\| `belay ([^|]+)\|/gm)].flatMap((match) =>
    [...match[1]!.matchAll(/(?:^|`)([a-z]+)/g)].map((verb) => verb[1]!),
  );
  const help = execFileSync(process.execPath, ["packages/cli/bin/belay.js", "--help"], { encoding: "utf8" });
  const verbs = new Set([...named, ...rows]);
  expect(verbs.size).toBeGreaterThan(20);
  for (const verb of verbs) expect(help).toMatch(new RegExp(`^\\s+${verb}\\b`, "m"));
});

test("the two commands that do everything are scripts, and CI runs the second", () => {
  expect(readme).toContain("npm install && npm start");
  expect(readme).toContain("npm install && npm test");
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(["prepare", "start", "test"]));
  expect(readFileSync(".ci/run", "utf8")).toMatch(/npm install && npm test|npm install\nnpm test/);
});

describe("the documents", () => {
  const documents = [
    "README.md",
    "ARCHITECTURE.md",
    "CONTRIBUTING.md",
    ...readdirSync("docs", { recursive: true, encoding: "utf8" })
      .filter((name) => name.endsWith(".md"))
      .map((name) => join("docs", name)),
  ];

  test.each(documents)("%s links to what exists", (document) => {
    const text = readFileSync(document, "utf8").replaceAll(/^```[^]*?^```/gm, "");
    const links = [...text.matchAll(/\]\(([^)\s]+)\)/g)].map((match) => match[1]!);
    const missing = links.filter((link) => !/^https?:/.test(link) && !isThere(document, link));
    expect(missing).toEqual([]);
  });

  test("the README leads to every document", () => {
    const linked = new Set([...readme.matchAll(/\]\((docs\/[^)#]+)/g)].map((match) => match[1]!));
    const own = documents.filter((path) => /^docs\/[^/]+\.md$/.test(path));
    expect(own.filter((path) => !linked.has(path))).toEqual([]);
  });

  test("docs/settings.md has every setting with its default, and every preset", () => {
    const text = readFileSync("docs/settings.md", "utf8");
    for (const { key, value } of listSettings("/nowhere")) {
      const row = text.split("\n").find((line) => line.startsWith(`| \`${key}\` |`));
      expect(row, key).toContain(`| ${shown(value)} |`);
    }
    for (const preset of [...Object.keys(RETENTION_PRESETS), ...Object.keys(CHECKPOINT_PRESETS)])
      expect(text).toContain(`| \`${preset}\` |`);
  });
});

describe("the paths through the code in ARCHITECTURE.md", () => {
  const text = readFileSync("ARCHITECTURE.md", "utf8");
  const paths = ["A tool call becomes a checkpoint", "A restore reaches the disk"].map((title) => {
    const section = text.slice(text.indexOf(`## ${title}`)).split(/^## /m)[1]!;
    const rows = [...section.matchAll(/^\| `([^`]+)` \| `([^`]+)` \|/gm)];
    return { title, rows: rows.map((row) => ({ name: row[1]!, file: row[2]! })) };
  });

  test.each(paths)("$title: at most twelve functions, each in its file", ({ rows }) => {
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.length).toBeLessThanOrEqual(12);
    for (const { name, file } of rows) {
      const home = file.startsWith("cli/") ? "packages" : "packages/engine/src";
      const source = readFileSync(join(home, file), "utf8");
      for (const part of name.replace("(…)", "").split("."))
        expect(source, `${name} in ${file}`).toContain(part);
    }
  });
});

/** How the table of settings writes a default. */
function shown(value: number | string): string {
  if (value === "") return "–";
  if (typeof value === "string") return `\`${value}\``;
  if (value === 0) return "0";
  const gib = value / 2 ** 30;
  const mib = value / 2 ** 20;
  if (Number.isInteger(gib)) return `${gib} GiB`;
  return Number.isInteger(mib) ? `${mib} MiB` : value.toLocaleString("en");
}

/** True when a link of a document leads to a file, and its part after "#" to a heading in it. */
function isThere(document: string, link: string): boolean {
  const [path, heading] = link.split("#") as [string, string | undefined];
  const target = path === "" ? document : join(dirname(document), path);
  if (!existsSync(target)) return false;
  if (heading === undefined) return true;
  const headings = [...readFileSync(target, "utf8").matchAll(/^#+ (.+)$/gm)].map((match) =>
    match[1]!
      .toLowerCase()
      .replaceAll(/[^\w\- ]/g, "")
      .replaceAll(" ", "-"),
  );
  return headings.includes(heading);
}
