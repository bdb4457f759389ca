/** The example: a chat whose own server passes its page on to a real resident process, in a real browser. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Page } from "playwright-core";
import { expect } from "vitest";
import { ServedProject } from "../../../server/test/support/served-project.ts";
import { newContext, newPage } from "../../../web/test/support/browser.ts";
import { buildPage } from "../../example/build-page.ts";

const SERVER = join(import.meta.dirname, "../../example/server.ts");
const REACT_18 = join(import.meta.dirname, "../../../../test/react-18/node_modules");

/** Versions of React that the package promises to work with. */
export const REACTS = ["React 19", "React 18"] as const;

const built = new Map<string, string>();

/** The example's page, built once for each version. */
async function pagesOf(react: (typeof REACTS)[number]): Promise<string> {
  const known = built.get(react);
  if (known !== undefined) return known;
  const directory = mkdtempSync(join(tmpdir(), "belay-chat-page-"));
  await buildPage(directory, react === "React 18" ? REACT_18 : undefined);
  built.set(react, directory);
  return directory;
}

export function removePages(): void {
  for (const directory of built.values()) rmSync(directory, { recursive: true, force: true });
  built.clear();
}

export interface OpenChat {
  readonly chat: Chat;
  readonly page: Page;
  readonly project: ServedProject;
}

export interface ChatOptions {
  readonly react?: (typeof REACTS)[number];
  /** What the browser may write to its console, where a story cuts a connection or ends a key. */
  readonly expected?: RegExp;
  /** Without a key: the parts with plain data. */
  readonly path?: string;
}

const FILES = { "app.txt": "the first version\n", "src/lib.ts": "export const lib = 1;\n" };
const START_MS = 60_000;

/** A test with the chat open. Whatever it does, the page writes no error to the console. */
export function chatting(story: (open: OpenChat) => Promise<void>, options: ChatOptions = {}) {
  return async (): Promise<void> => {
    const pages = await pagesOf(options.react ?? "React 19");
    await using project = await ServedProject.start(FILES);
    const line = [SERVER, "--project", project.project, "--home", project.home, "--pages", pages];
    const server = spawn(process.execPath, line, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, BELAY_RESIDENT: "off" },
    });
    const context = await newContext();
    try {
      const signal = AbortSignal.timeout(START_MS);
      const [address] = (await once(createInterface(server.stdout), "line", { signal })) as [string];
      const problems: string[] = [];
      const page = await newPage(context, problems);
      await page.goto(options.path === undefined ? address : new URL(options.path, address).href);
      await story({ chat: new Chat(page, project), page, project });
      const unexpected = problems.filter((problem) => options.expected?.test(problem) !== true);
      if (unexpected.length > 0) throw new Error(`The page had problems:\n${unexpected.join("\n")}`);
    } finally {
      await context.close();
      server.kill();
    }
  };
}

/** What a person does in the chat. */
export class Chat {
  readonly #page: Page;
  readonly #project: ServedProject;
  #sent = 0;

  constructor(page: Page, project: ServedProject) {
    this.#page = page;
    this.#project = project;
  }

  /** Sends a message and waits for the end of its answer. */
  async send(text: string, end: "ready" | "error" = "ready"): Promise<void> {
    this.#sent += 1;
    await this.#page.getByLabel("Message", { exact: true }).fill(text);
    await this.#page.getByRole("button", { name: "Send" }).click();
    await expect.poll(() => this.#page.locator(".host-answer").count()).toBe(this.#sent);
    await this.status.getByText(` · ${end}`).waitFor();
  }

  get status() {
    return this.#page.locator(".host-column [role=status]");
  }

  message(text: string) {
    return this.#page.locator(".host-user", { hasText: text });
  }

  badge(text: string) {
    return this.message(text).getByRole("button", { name: /^Restore…/ });
  }

  get dialog() {
    return this.#page.locator("dialog[open]");
  }

  get toast() {
    return this.#page.locator(".b-toast");
  }

  /** Opens the preview of going back to before a message. */
  async ask(text: string): Promise<void> {
    await this.message(text).hover();
    await this.badge(text).click();
    await this.dialog.waitFor();
  }

  async confirm(words: RegExp): Promise<void> {
    const button = this.dialog.getByRole("button", { name: words });
    await button.waitFor();
    await expect.poll(() => button.getAttribute("aria-disabled")).toBe("false");
    await button.click();
    await this.dialog.waitFor({ state: "detached" });
  }

  verifyStore(): void {
    expect(this.#project.problems()).toEqual([]);
  }
}
