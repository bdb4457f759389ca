/** How fast the page is, in a real browser on the history that `measureTimeline` made in this place. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { once } from "node:events";
import { chromium, type Browser, type Page } from "playwright-core";
import { median, ms, type Row } from "./measure.ts";

const BELAY = join(import.meta.dirname, "../packages/cli/bin/belay");
const CHROMIUM = [process.env["BELAY_CHROMIUM"], "/usr/bin/chromium", "/usr/bin/google-chrome"].find(
  (path): path is string => path !== undefined && existsSync(path),
);
const DEADLINE_MS = 60_000;
/** An edit every so many lines of a long file. */
const EDIT_EVERY = 17;

/** How long a history there is, how many files and lines the large turn has, and how often everything is measured. */
export interface PageOptions {
  readonly checkpoints: number;
  readonly many: number;
  readonly rounds: number;
}

/** The rows of the report; none where no browser is installed. */
export async function measurePage(place: string, options: PageOptions): Promise<Row[]> {
  if (options.many === 0) return [];
  if (CHROMIUM === undefined) {
    console.error("No Chromium is installed: the page is not measured.");
    return [];
  }
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox"] });
  try {
    return [...(await onHistory(browser, place, options)), ...(await onLargeTurn(browser, place, options))];
  } finally {
    await browser.close();
  }
}

/** Opening, moving, scrolling and hearing of news, with a long history. */
async function onHistory(browser: Browser, place: string, options: PageOptions): Promise<Row[]> {
  const { checkpoints, rounds } = options;
  await using served = await Served.start(join(place, "timeline"), join(place, "timeline-home"));
  const page = await served.open(browser);
  await page.getByRole("row", { name: "Prompt " }).first().waitFor();
  const opened = await samples(rounds, () => openAgain(page));
  const row = rowOf(checkpoints);
  return [
    row("page, first paint", median(opened.map(({ paint }) => paint)), 200),
    row("page, script to first rows", median(opened.map(({ rows }) => rows)), 50),
    row("page, a key to the next frame", median(await samples(rounds, () => moveDown(page))), 100),
    row("page, the longest task of scrolling", median(await samples(rounds, () => scrollDown(page))), 50),
    row(
      "page, an event to its row",
      median(await samples(rounds, (round) => hear(page, served, round))),
      150,
    ),
  ];
}

/** Previews and lines of one turn with many files. */
async function onLargeTurn(browser: Browser, place: string, options: PageOptions): Promise<Row[]> {
  const { many, rounds } = options;
  const edits = Math.ceil(many / EDIT_EVERY);
  const root = join(place, "page");
  mkdirSync(join(root, "many"), { recursive: true });
  writeFileSync(
    join(root, "long.ts"),
    text(many, () => false),
  );
  await using served = await Served.start(root, join(place, "page-home"));
  const thread = await served.thread();
  await served.turn(thread, "Edit a long file", () => {
    writeFileSync(
      join(root, "long.ts"),
      text(many, (line) => line % EDIT_EVERY === 0),
    );
  });
  await served.turn(thread, "Make many files", () => makeFiles(root, "many", many));
  await served.turn(thread, "Make ten files", () => makeFiles(root, "ten", 10));
  const page = await served.open(browser);
  const row = rowOf(many);
  const lines = await samples(rounds, () => showLines(page));
  return [
    row(
      "page, preview of 10 files after its plan",
      median(await samples(rounds, () => preview(page, "Make ten files"))),
      30,
    ),
    row(
      `page, preview of ${many} files after its plan`,
      median(await samples(rounds, () => preview(page, "Make many files"))),
      100,
    ),
    row(`page, ${many} lines with ${edits} edits, visible`, median(lines.map(({ visible }) => visible)), 600),
    row(
      `page, ${many} lines with ${edits} edits, coloured`,
      median(lines.map(({ coloured }) => coloured)),
      700,
    ),
  ];
}

function rowOf(files: number) {
  return (work: string, taken: number, budget: number): Row => ({
    work,
    files,
    belay: ms(taken),
    git: "",
    ratio: "",
    budget: `≤ ${budget} ms`,
    holds: taken <= budget,
  });
}

async function samples<Value>(rounds: number, measure: (round: number) => Promise<Value>): Promise<Value[]> {
  const values: Value[] = [];
  for (let round = 0; round < rounds; round += 1) values.push(await measure(round));
  return values;
}

/** Loads the page again; the browser says when it painted, and when the first row was there after the script had run. */
async function openAgain(page: Page): Promise<{ paint: number; rows: number }> {
  await page.addInitScript(`
    new MutationObserver((_, observer) => {
      if (document.querySelector("[role=row]") === null) return;
      globalThis.firstRows = performance.now();
      observer.disconnect();
    }).observe(document, { childList: true, subtree: true });
  `);
  await page.reload();
  await page.getByRole("row", { name: "Prompt " }).first().waitFor();
  return (await page.evaluate(`(() => {
    // this event waits for scripts that are modules, and for nothing else
    const [{ domContentLoadedEventStart: ran }] = performance.getEntriesByType("navigation");
    return { paint: performance.getEntriesByName("first-contentful-paint")[0].startTime, rows: globalThis.firstRows - ran };
  })()`)) as { paint: number; rows: number };
}

/** The slowest of twenty moves: from the key to the frame that shows it. */
async function moveDown(page: Page): Promise<number> {
  await page.getByRole("treegrid").focus();
  await page.evaluate(`(() => {
    globalThis.keys = [0];
    globalThis.watch = new PerformanceObserver((list) => globalThis.keys.push(...list.getEntries().map(({ duration }) => duration)));
    globalThis.watch.observe({ type: "event", durationThreshold: 16 });
  })()`);
  for (let move = 0; move < 20; move += 1) await page.keyboard.press("ArrowDown");
  await frames(page);
  return Number(await page.evaluate("globalThis.watch.disconnect(), Math.max(...globalThis.keys)"));
}

/** The longest task while the wheel turns; tasks under 50 ms have no entry and count as nothing. */
async function scrollDown(page: Page): Promise<number> {
  await page.evaluate(`(() => {
    document.querySelector("[role=treegrid]").scrollTo(0, 0);
    globalThis.tasks = [0];
    globalThis.watch = new PerformanceObserver((list) => globalThis.tasks.push(...list.getEntries().map(({ duration }) => duration)));
    globalThis.watch.observe({ type: "longtask" });
  })()`);
  await page.getByRole("treegrid").hover();
  for (let turn = 0; turn < 60; turn += 1) {
    await page.mouse.wheel(0, 400);
    await page.evaluate("new Promise((next) => requestAnimationFrame(next))");
  }
  await frames(page);
  const longest = await page.evaluate("globalThis.watch.disconnect(), Math.max(...globalThis.tasks)");
  await page.evaluate("document.querySelector('[role=treegrid]').scrollTo(0, 0)");
  return Number(longest);
}

/** From the end of the request that began a turn until its row stands in the list. */
async function hear(page: Page, served: Served, round: number): Promise<number> {
  const thread = await served.thread();
  const title = `News ${round} ${Date.now()}`;
  const shown = page.evaluate(
    `new Promise((done) => new MutationObserver((_, observer) => {
      if (!document.querySelector("[role=treegrid]").textContent.includes(${JSON.stringify(title)})) return;
      observer.disconnect();
      done(performance.timeOrigin + performance.now());
    }).observe(document, { childList: true, subtree: true, characterData: true }))`,
  );
  await served.call(`/api/threads/${thread}/messages`, { content: title });
  const begun = performance.timeOrigin + performance.now();
  return Math.max(0, Number(await within(shown, "the row of a turn that began")) - begun);
}

/** From the answer with the plan until its first file stands in the preview. */
async function preview(page: Page, title: string): Promise<number> {
  await page
    .getByRole("row", { name: `Claude Code, ${title}` })
    .first()
    .click();
  await page.evaluate(`void (globalThis.firstFile = new Promise((done) => new MutationObserver((_, observer) => {
    if (document.querySelector("dialog[open] .b-filerow") === null) return;
    observer.disconnect();
    done(performance.now());
  }).observe(document, { childList: true, subtree: true })))`);
  await page.getByRole("button", { name: "Restore to before this…" }).click();
  const shown = Number(await within(page.evaluate("globalThis.firstFile"), "the preview"));
  const planned = Number(
    await page.evaluate(
      `performance.getEntriesByType("resource").findLast(({ name }) => name.includes("/api/plans?")).responseEnd`,
    ),
  );
  await page.keyboard.press("Escape");
  await page.locator("dialog[open]").waitFor({ state: "detached" });
  return Math.max(0, shown - planned);
}

/** From the selection of a row until lines of its file are there, and until they have colours. */
async function showLines(page: Page): Promise<{ visible: number; coloured: number }> {
  await page.getByRole("row", { name: "Claude Code, Make ten files" }).first().click();
  await page.getByText("ten/0.txt").first().waitFor();
  await page.evaluate(`(() => {
    globalThis.lines = new Promise((done) => {
      const start = performance.now();
      let visible;
      const look = () => {
        const roots = [...document.querySelectorAll("diffs-container")].map((each) => each.shadowRoot).filter(Boolean);
        const words = roots.flatMap((root) => [...root.querySelectorAll("[data-line] span")]).slice(0, 400);
        const isThere = roots.some((root) => root.textContent.includes("value"));
        if (isThere) visible ??= performance.now() - start;
        if (isThere && new Set(words.map((word) => getComputedStyle(word).color)).size > 2)
          return done({ visible, coloured: performance.now() - start });
        requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
  })()`);
  await page.getByRole("row", { name: "Claude Code, Edit a long file" }).first().click();
  const lines = within(page.evaluate("globalThis.lines"), "the lines of a long file");
  return (await lines) as { visible: number; coloured: number };
}

async function frames(page: Page): Promise<void> {
  await page.evaluate("new Promise((done) => requestAnimationFrame(() => setTimeout(done, 100)))");
}

function text(length: number, isEdited: (line: number) => boolean): string {
  return Array.from(
    { length },
    (_, line) => `export const value${line} = ${isEdited(line) ? `"edited ${line}"` : line};\n`,
  ).join("");
}

function makeFiles(root: string, directory: string, count: number): void {
  mkdirSync(join(root, directory), { recursive: true });
  for (let file = 0; file < count; file += 1)
    writeFileSync(join(root, directory, `${file}.txt`), `${file}\n`);
}

/** Waits for what the page does, until a deadline. */
async function within<Value>(work: Promise<Value>, what: string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new Error(`The page did not show ${what}.`)), DEADLINE_MS);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

/** A resident process that serves a directory, and agents in it. */
class Served implements AsyncDisposable {
  readonly #line: readonly string[];
  readonly #root: string;
  #child: ChildProcess | undefined;
  #url = "";
  #token = "";
  #calls = 0;

  private constructor(root: string, home: string) {
    this.#root = root;
    this.#line = ["--home", home];
  }

  static async start(root: string, home: string): Promise<Served> {
    const served = new Served(root, home);
    spawnSync(BELAY, [...served.#line, "init", "--no-agents", "--yes"], { cwd: root, timeout: DEADLINE_MS });
    // the measurement before this one may have left its resident process behind
    spawnSync(BELAY, [...served.#line, "stop"], { cwd: root, timeout: DEADLINE_MS });
    const child = spawn(BELAY, [...served.#line, "serve", "--port", "0", "--json"], {
      cwd: root,
      stdio: ["ignore", "pipe", "ignore"],
    });
    served.#child = child;
    const [line] = (await within(once(createInterface(child.stdout), "line"), "its server")) as [string];
    if (!line.endsWith("}")) throw new Error("The server of the page did not start.");
    ({ url: served.#url, token: served.#token } = JSON.parse(line) as { url: string; token: string });
    return served;
  }

  /** The page of the directory, in a window of its own. */
  async open(browser: Browser): Promise<Page> {
    const { stdout } = spawnSync(BELAY, [...this.#line, "ui", "--no-open", "--json"], {
      cwd: this.#root,
      encoding: "utf8",
      timeout: DEADLINE_MS,
    });
    const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
    context.setDefaultTimeout(DEADLINE_MS);
    const page = await context.newPage();
    await page.goto((JSON.parse(stdout) as { url: string }).url);
    await page.getByRole("treegrid").waitFor();
    return page;
  }

  async call(path: string, body: object): Promise<Record<string, { id: string }>> {
    const answer = await fetch(this.#url + path, {
      method: "POST",
      // a connection of its own: this process may stand still for longer than the server keeps an idle one
      headers: {
        authorization: `Bearer ${this.#token}`,
        "content-type": "application/json",
        connection: "close",
      },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    return (await answer.json()) as Record<string, { id: string }>;
  }

  async thread(): Promise<string> {
    return (await this.call("/api/threads", { agent: "claude-code", title: "Bench" }))["thread"]!.id;
  }

  /** A turn with one tool call. */
  async turn(thread: string, content: string, work: () => void): Promise<void> {
    const toolUseId = `call-${(this.#calls += 1)}`;
    await this.call(`/api/threads/${thread}/messages`, { content });
    await this.call(`/api/threads/${thread}/tools`, { phase: "before", tool: "Bash", toolUseId });
    work();
    await this.call(`/api/threads/${thread}/tools`, { phase: "after", tool: "Bash", toolUseId });
    await this.call(`/api/threads/${thread}/stop`, {});
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const child = this.#child;
    if (child === undefined || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await within(exited, "the end of its server");
  }
}
