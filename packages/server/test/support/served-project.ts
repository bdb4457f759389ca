/** A real process that serves a real directory, and a plain HTTP client for it. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { findWorkspaceSync, openWorkspaceSync } from "@belay/engine/sync";

const LAUNCHER = join(import.meta.dirname, "../../../cli/bin/belay.js");

export interface Answer<Body = any> {
  readonly status: number;
  readonly body: Body;
}

/** An event of a stream. */
export interface Told {
  readonly id: string | undefined;
  readonly data: any;
}

async function* eventsOf(response: Response): AsyncGenerator<Told, undefined> {
  let text = "";
  for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
    text += piece;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const block = text.slice(0, end);
      text = text.slice(end + 2);
      const data = /^data: (.*)$/m.exec(block)?.[1];
      if (data !== undefined) yield { id: /^id: (.*)$/m.exec(block)?.[1], data: JSON.parse(data) };
    }
  }
  return undefined;
}

export class ServedProject implements AsyncDisposable {
  readonly base = realpathSync(mkdtempSync(join(tmpdir(), "belay-http-")));
  readonly project = join(this.base, "project");
  readonly home: string;
  url = "";
  token = "";
  pid = 0;
  /** More of the environment of what is started from now on. */
  variables: NodeJS.ProcessEnv = {};
  #process: ChildProcess | undefined;
  /** The one whose process serves this too: requests have to name this one. */
  readonly #host: ServedProject | undefined;

  constructor(host?: ServedProject) {
    this.#host = host;
    this.home = host?.home ?? join(this.base, "home");
    this.url = host?.url ?? "";
    this.token = host?.token ?? "";
    this.pid = host?.pid ?? 0;
  }

  /** A protected directory that is served, with these files in it: by the process of `host`, or by one of its own. */
  static async start(
    files: Readonly<Record<string, string | Buffer>> = { "a.txt": "one\n" },
    host?: ServedProject,
  ): Promise<ServedProject> {
    const project = new ServedProject(host);
    mkdirSync(project.project);
    for (const [path, content] of Object.entries(files)) project.write(path, content);
    // as `belay init --no-agents` does it, without a process for it
    openWorkspaceSync(project.project, { home: project.home }).close();
    if (host === undefined) await project.serve();
    return project;
  }

  async serve(port = "0"): Promise<void> {
    const child = spawn(process.execPath, this.#line("serve", "--port", port, "--json"), {
      cwd: this.project,
      stdio: ["ignore", "pipe", "inherit"],
      env: this.#env,
    });
    this.#process = child;
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    ({
      url: this.url,
      token: this.token,
      pid: this.pid,
    } = JSON.parse(line) as Record<"url" | "token", string> & {
      pid: number;
    });
  }

  /** Runs a command beside the server, as another terminal would. */
  belay(...args: string[]): { status: number | null; stdout: string; stderr: string } {
    return spawnSync(process.execPath, this.#line(...args), {
      cwd: this.project,
      encoding: "utf8",
      env: this.#env,
    });
  }

  /** The problems that a proof of the whole store finds, every byte read; by another process than the one that serves it. */
  problems(): readonly unknown[] {
    using workspace = findWorkspaceSync(this.project, { home: this.home });
    return workspace.upkeep.verify({ full: true }).problems;
  }

  /** Starts a command and does not wait for it. */
  start(...args: string[]): ChildProcess {
    return spawn(process.execPath, this.#line(...args), {
      cwd: this.project,
      stdio: "ignore",
      env: this.#env,
    });
  }

  /** The database of the only store there is. */
  store(): string {
    const stores = join(this.home, "workspaces");
    return join(stores, readdirSync(stores)[0]!, "store.db");
  }

  get #env(): NodeJS.ProcessEnv {
    return { ...process.env, BELAY_RESIDENT: "off", ...this.variables };
  }

  #line(...args: string[]): string[] {
    return [LAUNCHER, "--home", this.home, "-C", this.project, ...args];
  }

  async call<Body = any>(method: string, path: string, body?: unknown): Promise<Answer<Body>> {
    const response = await fetch(this.url + this.#named(path), {
      method,
      headers: {
        authorization: `Bearer ${this.token}`,
        // of its own: a connection to a server that was killed may look alive when its successor has the same port
        connection: "close",
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as Body };
  }

  #named(path: string): string {
    if (this.#host === undefined || /[?&]workspace=/.test(path)) return path;
    return `${path}${path.includes("?") ? "&" : "?"}workspace=${encodeURIComponent(this.project)}`;
  }

  async ok<Body = any>(method: string, path: string, body?: unknown): Promise<Body> {
    const answer = await this.call<Body>(method, path, body);
    if (answer.status >= 300)
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    return answer.body;
  }

  /** Reads a stream until `count` events have come. */
  async events(path: string, count: number, lastId?: string): Promise<Told[]> {
    return (await this.listen(path, count, lastId)).told;
  }

  /** Starts to read a stream: whatever happens after this has returned will be told. */
  async listen(path: string, count: number, lastId?: string): Promise<{ readonly told: Promise<Told[]> }> {
    const stop = new AbortController();
    const headers = { authorization: `Bearer ${this.token}`, ...(lastId && { "last-event-id": lastId }) };
    const response = await fetch(this.url + path, { headers, signal: stop.signal });
    const events = eventsOf(response);
    const found = [(await events.next()).value as Told];
    const rest = async () => {
      while (found.length < count) {
        const { value, done } = await events.next();
        if (done === true) return found;
        found.push(value);
      }
      stop.abort();
      return found;
    };
    return { told: rest() };
  }

  path(path: string): string {
    return join(this.project, path);
  }

  write(path: string, content: string | Buffer): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), content);
  }

  read(path: string): string | undefined {
    return existsSync(this.path(path)) ? readFileSync(this.path(path), "utf8") : undefined;
  }

  readBytes(path: string): Buffer {
    return readFileSync(this.path(path));
  }

  /** All files with their text. */
  tree(): Record<string, string> {
    const names = readdirSync(this.project, { recursive: true, encoding: "utf8" }).sort();
    const files = names.filter((name) => statSync(this.path(name)).isFile());
    return Object.fromEntries(files.map((name) => [name, this.read(name)!]));
  }

  /** What the process wrote to its log. */
  log(): string {
    return readFileSync(join(this.home, "run/resident.log"), "utf8");
  }

  remove(path: string): void {
    rmSync(this.path(path), { recursive: true });
  }

  async kill(signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
    const child = this.#process;
    if (this.#host !== undefined) throw new Error("This process serves other tests too.");
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#host === undefined) await this.kill("SIGTERM");
    rmSync(this.base, { recursive: true, force: true });
  }
}

/** A test with a served project of its own. */
export function served(
  work: (project: ServedProject) => Promise<void>,
  files?: Readonly<Record<string, string | Buffer>>,
): () => Promise<void> {
  return async () => {
    await using project = await ServedProject.start(files);
    await work(project);
  };
}
