/** Brings a client from npm, once: exact versions, outside the repository, without running its install scripts. */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Client } from "./client.ts";

/** The `node_modules` that has it. */
export function installClient(client: Client, clients: string): string {
  const place = join(clients, `${client.agent}-${client.version}`);
  const modules = join(place, "node_modules");
  if (existsSync(join(modules, client.package))) return modules;
  mkdirSync(place, { recursive: true });
  const what = `${client.package}@${client.version}`;
  console.error(`installing ${what} into ${place} …`);
  const args = ["install", "--prefix", place, "--ignore-scripts", "--no-audit", "--no-fund", what];
  const { status } = spawnSync("npm", args, { stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error(`${what} could not be installed`);
  return modules;
}
