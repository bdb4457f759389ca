/**
 * `node scripts/picture.ts`: the picture of the page in the README, light and dark, from the project of the tour with two
 * agents at work in it. Needs a build and Chromium.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { appendFileSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const REPOSITORY = join(import.meta.dirname, "..");
const BELAY = join(REPOSITORY, "packages/cli/bin/belay");
const IMAGES = join(REPOSITORY, "docs/images");
const CHROMIUM = process.env["BELAY_CHROMIUM"] ?? "/usr/bin/chromium";
const SIZE = { width: 1280, height: 760 };
const DEADLINE_MS = 60_000;

function belay(...args: string[]): any {
  const { stdout, stderr, status } = spawnSync(BELAY, [...args, "--json"], {
    encoding: "utf8",
    timeout: DEADLINE_MS,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
}

/** A few turns of two agents, and a change by hand. */
async function agentsWork(url: string, token: string): Promise<void> {
  const call = async (path: string, body: object): Promise<any> => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
    return answer.json();
  };
  let calls = 0;
  const write = (path: string, text: string) => writeFileSync(join(directory, path), text);
  const begin = async (agent: string, title: string) => {
    const { thread } = await call("/api/threads", { agent, title });
    const at = `/api/threads/${thread.id}`;
    const tool = async (path: string, work: () => void) => {
      const toolUseId = `call-${(calls += 1)}`;
      const facts = { tool: "Edit", toolUseId, paths: [path], description: path };
      await call(`${at}/tools`, { ...facts, phase: "before" });
      work();
      await call(`${at}/tools`, { ...facts, phase: "after" });
    };
    return {
      tool,
      prompt: (content: string) => call(`${at}/messages`, { content }),
      stop: () => call(`${at}/stop`, {}),
    };
  };
  const claude = await begin("claude-code", "Polite greetings");
  const codex = await begin("codex", "Guide");
  await claude.prompt("Greet people by their full name, and politely");
  await claude.tool("src/greet.js", () => write("src/greet.js", GREET));
  await claude.tool("src/names.js", () => write("src/names.js", NAMES));
  await claude.stop();
  await call("/api/checkpoints", {
    name: "Before the translations",
    annotation: "works, shown to the team",
    tags: ["demo"],
  });
  appendFileSync(join(directory, "notes.txt"), "Ask Ada about titles.\n");
  await codex.prompt("Write a guide for people who have never used a terminal");
  await codex.tool("docs/guide.md", () => write("docs/guide.md", GUIDE));
  await codex.stop();
  await claude.prompt("Translate the greeting into French and German");
  await claude.tool("src/greet.js", () => write("src/greet.js", TRANSLATED));
  await claude.tool("src/languages.js", () => write("src/languages.js", LANGUAGES));
  await claude.tool("src/main.js", () => write("src/main.js", MAIN));
  await claude.stop();
  await codex.prompt("Add a table of all commands to the guide");
  await codex.tool("docs/guide.md", () => appendFileSync(join(directory, "docs/guide.md"), TABLE));
}

async function takePictures(): Promise<void> {
  mkdirSync(IMAGES, { recursive: true });
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    for (const colorScheme of ["light", "dark"] as const) {
      const context = await browser.newContext({ viewport: SIZE, colorScheme, reducedMotion: "reduce" });
      context.setDefaultTimeout(DEADLINE_MS);
      const page = await context.newPage();
      await page.goto((belay(...place, "ui", "--no-open") as { url: string }).url);
      await page.getByRole("row", { name: "Translate the greeting" }).first().click();
      await page.locator("diffs-container").first().getByText("greeting").first().waitFor();
      await page.getByRole("link", { name: /to approve/ }).waitFor();
      await page.evaluate("document.fonts.ready");
      await page.getByRole("treegrid").hover();
      await page.screenshot({ path: join(IMAGES, `page-${colorScheme}.png`) });
      await context.close();
    }
  } finally {
    await browser.close();
  }
}

const GREET = `import { fullName } from "./names.js";

/** Says hello, politely. */
export function greet(person) {
  return "Good day, " + fullName(person) + ".";
}
`;
const NAMES = `export function fullName({ first, last, title = "" }) {
  return [title, first, last].filter(Boolean).join(" ");
}
`;
const TRANSLATED = `import { greeting } from "./languages.js";
import { fullName } from "./names.js";

/** Says hello, politely, in the language of the person. */
export function greet(person) {
  return \`\${greeting(person.language)}, \${fullName(person)}.\`;
}
`;
const LANGUAGES = `const GREETINGS = { en: "Good day", fr: "Bonjour", de: "Guten Tag" };

export function greeting(language) {
  return GREETINGS[language] ?? GREETINGS.en;
}
`;
const MAIN = `import { greet } from "./greet.js";

console.log(greet({ first: "Ada", last: "Lovelace", language: "fr" }));
`;
const GUIDE = `# Guide

1. Open a terminal.
2. Type \`node src/main.js\` and press Enter.
3. Read what it says.
`;
const TABLE = `
| command | does |
|---|---|
| \`node src/main.js\` | says hello |
`;

const { directory, home } = belay("demo", "--fast", "--keep") as { directory: string; home: string };
const place = ["--home", home, "-C", directory];
const server = spawn(BELAY, [...place, "serve", "--port", "0", "--json"], {
  stdio: ["ignore", "pipe", "inherit"],
});
try {
  const started = once(createInterface(server.stdout), "line", { signal: AbortSignal.timeout(DEADLINE_MS) });
  const { url, token } = JSON.parse(String((await started)[0])) as { url: string; token: string };
  await agentsWork(url, token);
  await takePictures();
} finally {
  server.kill("SIGTERM");
  await once(server, "exit");
  rmSync(dirname(directory), { recursive: true, force: true });
}
