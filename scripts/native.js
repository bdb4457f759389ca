/**
 * Compiles what Belay has in C, where there is a compiler: the engine's native look and copies, and the hook that agents
 * run. They make things quicker and nothing else: without them everything works, so nothing here fails the build.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { include_dir } from "node-api-headers";

const COMMON = ["-std=gnu11", "-O2", "-Wall", "-Wextra"];
const SHARED = process.platform === "darwin" ? ["-bundle", "-undefined", "dynamic_lookup"] : ["-shared"];

const LOOK = {
  sources: ["packages/engine/native/look.c", "packages/engine/native/copy.c"],
  target: "packages/engine/dist/look.node",
  flags: [["-fPIC", "-fvisibility=hidden", "-pthread", "-I", include_dir, ...SHARED]],
  without: "scans and copies of big trees take longer",
};

const HOOK = {
  sources: ["packages/agents/native/belay-hook.c"],
  target: "packages/agents/dist/belay-hook",
  // a static program starts a millisecond sooner, and with any C library
  flags: [["-static"], []],
  without: "an agent waits longer for its hooks",
};

if (process.platform !== "win32") keep(LOOK);
if (process.platform === "linux") keep(HOOK);

function keep({ sources, target, flags, without }) {
  const built = statSync(target, { throwIfNoEntry: false });
  if (built !== undefined && sources.every((source) => built.mtimeMs > statSync(source).mtimeMs)) return;
  mkdirSync(dirname(target), { recursive: true });
  const fresh = `${target}.${process.pid}`;
  let problem;
  for (const some of flags) {
    problem = compile(sources, fresh, some);
    if (problem === undefined) break;
  }
  // a process that has the old one loaded keeps it
  if (problem === undefined) return renameSync(fresh, target);
  for (const file of [fresh, target]) rmSync(file, { force: true });
  console.error(`Without ${sources.join(" and ")} (${problem}): ${without}.`);
}

/** What is wrong, if anything. */
function compile(sources, target, flags) {
  const args = [...COMMON, ...flags, ...sources, "-o", target];
  const { status, error, stderr } = spawnSync(process.env.CC ?? "cc", args, { encoding: "utf8" });
  if (status !== 0) return error?.message ?? stderr.trim();
  if (stderr !== "") console.error(stderr);
  return undefined;
}
