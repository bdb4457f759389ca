/** Opens the page in a browser, or says how to: the code in the address works once, for a minute. */
import { spawn } from "node:child_process";
import { hostname, userInfo } from "node:os";
import type { Call } from "../call/command.ts";
import { ResidentProcess } from "../resident/resident-process.ts";

/** Where the page is and what it shows first. */
export interface PageAddress {
  /** The process's own address. */
  readonly url: string;
  /** The address of a tunnel that leads there. */
  readonly at?: string | undefined;
  /** The view, for example `/w/kqzv…/?sel=T3`. */
  readonly path?: string;
  /** False: the address is only printed. */
  readonly open?: boolean;
}

const PATIENCE_MS = 5000;

/** Asks the resident process for a code and opens the page with it; prints the address where there is no browser. */
export async function openPage(
  call: Pick<Call, "home" | "output" | "environment" | "json">,
  { url, at, path = "/", open = true }: PageAddress,
): Promise<void> {
  const client = new ResidentProcess(call.home).client(PATIENCE_MS);
  const { code } = await client!.call("POST /api/pages/codes", { body: at === undefined ? {} : { at } });
  // the fragment is never sent, so no server and no log sees the code
  const address = `${new URL(path, at ?? url).href}#${code}`;
  const { environment, output } = call;
  if (call.json) return output.print(JSON.stringify({ url: address }));
  if (at === undefined && isRemote(environment)) {
    const { port } = new URL(url);
    output.print(`${address}\n\nOn your own machine, before you open it within a minute:`);
    return output.print(`  ssh -L ${port}:127.0.0.1:${port} ${userInfo().username}@${hostname()}`);
  }
  if (open && at === undefined && (await startBrowser(address, environment)))
    return output.print(`The page is open in your browser: ${url}`);
  output.print(`${address}\nOpen it within a minute; it works once.`);
}

function isRemote(environment: NodeJS.ProcessEnv): boolean {
  return environment["SSH_CONNECTION"] !== undefined && environment["DISPLAY"] === undefined;
}

/** True when a program that opens browsers took the address. */
function startBrowser(address: string, environment: NodeJS.ProcessEnv): Promise<boolean> {
  const [program, ...words] = opener(environment) ?? [];
  if (program === undefined) return Promise.resolve(false);
  return new Promise((done) => {
    const child = spawn(program, [...words, address], { detached: true, stdio: "ignore" });
    child.once("error", () => done(false));
    child.once("spawn", () => {
      child.unref();
      done(true);
    });
  });
}

function opener(environment: NodeJS.ProcessEnv): readonly string[] | undefined {
  if (environment["BROWSER"]) return [environment["BROWSER"]];
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["rundll32", "url.dll,FileProtocolHandler"];
  const hasScreen = environment["DISPLAY"] !== undefined || environment["WAYLAND_DISPLAY"] !== undefined;
  return hasScreen ? ["xdg-open"] : undefined;
}
