/** A real browser on a real server: Debian's Chromium, driven from here. */
import { existsSync } from "node:fs";
import { chromium, type Browser, type BrowserContext, type Page } from "playwright-core";
import { expect } from "vitest";
import { ServedProject } from "../../../server/test/support/served-project.ts";

const PLACES = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

/** Where a browser is; undefined: the tests of the page are skipped. */
export const CHROMIUM = [process.env["BELAY_CHROMIUM"], ...PLACES].find(
  (path): path is string => path !== undefined && existsSync(path),
);
if (CHROMIUM === undefined)
  console.log(
    "No Chromium is installed: the tests of the page are skipped. `apt-get install chromium` brings it.",
  );

export interface Shown {
  readonly project: ServedProject;
  readonly page: Page;
  readonly context: BrowserContext;
  /** The address that opened the page, with its code. */
  readonly address: string;
}

export interface ShownOptions {
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: "light" | "dark";
  readonly files?: Readonly<Record<string, string | Buffer>>;
  /** What the browser itself may write to the console, where the story cuts a connection or ends a key. */
  readonly expected?: RegExp;
}

let browser: Browser | undefined;

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = undefined;
}

async function theBrowser(): Promise<Browser> {
  browser ??= await chromium.launch({ executablePath: CHROMIUM!, args: ["--no-sandbox"] });
  return browser;
}

/**
 * A test with a served project and its page open. Whatever the story does, the page writes no error to the console and no
 * resource of it is refused.
 */
export function shown(
  prepare: (project: ServedProject) => Promise<void>,
  story: (shown: Shown) => Promise<void>,
  options: ShownOptions = {},
): () => Promise<void> {
  return async () => {
    await using project = await ServedProject.start(options.files);
    await prepare(project);
    const context = await newContext(options);
    try {
      await tell(story, { project, context, options });
    } finally {
      await context.close();
    }
  };
}

/**
 * One process that serves all stories of a file, and one browser that keeps the page's own files. Each story has a project
 * and a tab of its own, with the key that the file's first page got: ten pages a minute get one, and no more.
 */
export function sharedServer(): { readonly shown: typeof shown; close(): Promise<void> } {
  let started: Promise<readonly [ServedProject, BrowserContext]> | undefined;
  const start = async () => {
    const [host, context] = [await ServedProject.start(), await newContext()];
    const page = await newPage(context, []);
    await page.goto(await freshAddress(host));
    await page.getByRole("treegrid").waitFor();
    const key = JSON.stringify(await page.evaluate("sessionStorage.getItem('belay-key')"));
    // an empty page has no storage
    await context.addInitScript(
      `location.protocol === "http:" && sessionStorage.setItem("belay-key", ${key})`,
    );
    await page.close();
    return [host, context] as const;
  };
  return {
    shown: (prepare, story, given) => async () => {
      const options = given ?? {};
      const [host, context] = await (started ??= start());
      await using project = await ServedProject.start(options.files, host);
      await prepare(project);
      try {
        await tell(story, { project, context, options, hasKey: true });
      } finally {
        await leave(context);
      }
    },
    close: async () => {
      const [host, context] = (await started) ?? [];
      await context?.close();
      await host?.[Symbol.asyncDispose]();
      await closeBrowser();
    },
  };
}

/** Nothing of a story is left for the next one. */
async function leave(context: BrowserContext): Promise<void> {
  const pages = context.pages();
  await pages[0]?.evaluate("localStorage.clear()");
  for (const page of pages) await page.close();
}

async function tell(
  story: (shown: Shown) => Promise<void>,
  told: Pick<Shown, "project" | "context"> & { readonly options: ShownOptions; readonly hasKey?: boolean },
): Promise<void> {
  const { project, context, options, hasKey = false } = told;
  const problems: string[] = [];
  const page = await newPage(context, problems);
  const address = hasKey ? await viewAddress(project) : await freshAddress(project);
  await page.goto(address);
  // the code in the address works once: until the page has its key, a story that loads it again would find it shut
  await expect.poll(() => page.evaluate("sessionStorage.getItem('belay-key')")).not.toBeNull();
  await story({ project, page, context, address });
  const unexpected = problems.filter((problem) => options.expected?.test(problem) !== true);
  if (unexpected.length > 0) throw new Error(`The page had problems:\n${unexpected.join("\n")}`);
}

export async function newContext({
  width = 1440,
  height = 900,
  scheme = "light",
}: ShownOptions = {}): Promise<BrowserContext> {
  const context = await (
    await theBrowser()
  ).newContext({
    viewport: { width, height },
    colorScheme: scheme,
    reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  context.setDefaultTimeout(45_000);
  return context;
}

/** A page that notes what goes wrong in it. */
export async function newPage(context: BrowserContext, problems: string[]): Promise<Page> {
  const page = await context.newPage();
  page.on("console", (message) => {
    if (message.type() === "error" || message.type() === "warning")
      problems.push(`${message.text()} ${message.location().url}`);
  });
  page.on("pageerror", (error) => problems.push(oneLine(error.stack ?? String(error))));
  return page;
}

/** The same as `addressOf`, asked of the process itself: a command takes as long to start as a page to load. */
async function freshAddress(project: ServedProject): Promise<string> {
  const { code } = await project.ok("POST", "/api/pages/codes", {});
  return `${await viewAddress(project)}#${code}`;
}

/** The address of the project's view, without a code. */
async function viewAddress(project: ServedProject): Promise<string> {
  const { workspaces } = await project.ok("GET", "/api/workspaces");
  const { id } = workspaces.find(({ path }: { path: string }) => path === project.project);
  return new URL(`/w/${id}/`, project.url).href;
}

/** A fresh address with a one-time code, as `belay ui` prints it. */
export function addressOf(project: ServedProject, ...words: string[]): string {
  const { stdout, stderr, status } = project.belay("ui", ...words, "--no-open", "--json");
  if (status !== 0) throw new Error(stderr);
  return (JSON.parse(stdout) as { url: string }).url;
}

/** A stack of the page is no stack of the test. */
function oneLine(stack: string): string {
  return stack.replaceAll(/\s*\n\s*at /g, " < ");
}
