/**
 * Compiles the engine's native look where there is a C compiler. It is an accelerator: without it, and on Windows,
 * everything works and a scan of a big tree takes longer, so nothing here fails the build.
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, statSync } from "node:fs";
import { include_dir } from "node-api-headers";

const SOURCE = "packages/engine/native/look.c";
const TARGET = "packages/engine/dist/look.node";

if (process.platform !== "win32" && isOutdated()) compile();

function isOutdated() {
  const built = statSync(TARGET, { throwIfNoEntry: false });
  return built === undefined || built.mtimeMs <= statSync(SOURCE).mtimeMs;
}

function compile() {
  const fresh = `${TARGET}.${process.pid}`;
  const shared = process.platform === "darwin" ? ["-bundle", "-undefined", "dynamic_lookup"] : ["-shared"];
  const flags = [
    "-std=gnu11",
    "-O2",
    "-Wall",
    "-Wextra",
    "-fPIC",
    "-fvisibility=hidden",
    "-pthread",
    "-I",
    include_dir,
  ];
  mkdirSync("packages/engine/dist", { recursive: true });
  const { status, error, stderr } = spawnSync(
    process.env.CC ?? "cc",
    [...flags, ...shared, SOURCE, "-o", fresh],
    {
      encoding: "utf8",
    },
  );
  if (status === 0) {
    if (stderr !== "") console.error(stderr);
    // a process that has the old one loaded keeps it
    renameSync(fresh, TARGET);
    return;
  }
  for (const file of [fresh, TARGET]) rmSync(file, { force: true });
  console.error(
    `Without the native look (${error?.message ?? stderr.trim()}): scans of big trees take longer.`,
  );
}
