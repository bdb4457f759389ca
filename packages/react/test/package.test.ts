/** What a host installs: which files, how much, and that it can be loaded without a browser. */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

const PACKAGE = join(import.meta.dirname, "..");
const manifest = JSON.parse(readFileSync(join(PACKAGE, "package.json"), "utf8"));

/** Beside React, and without the diff view, which is loaded on first use. */
const MOST_BYTES = 60 * 1024;

test("the package holds what is built, its styles, its README and nothing else", () => {
  const { stdout, status, stderr } = spawnSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"], {
    cwd: PACKAGE,
    encoding: "utf8",
    timeout: 60_000,
  });
  expect(status, stderr).toBe(0);
  const [packed] = Object.values(JSON.parse(stdout)) as [{ files: { path: string }[] }];
  const paths = packed.files.map(({ path }) => path);
  const others = paths.filter((path) => !/^dist\/.*(?:\.js|\.d\.ts)$/.test(path));
  expect(others.toSorted()).toEqual(
    ["LICENSE", "README.md", "package.json", "src/styles.css"].filter(isThere),
  );
  expect(paths).toEqual(expect.arrayContaining(["dist/index.js", "dist/index.d.ts", "dist/diff/worker.js"]));
});

/** The licence is copied when the package is packed in earnest. */
function isThere(path: string): boolean {
  return path !== "LICENSE" || existsSync(join(PACKAGE, path));
}

test("every entry has its file, React is the host's own, and versions are exact", () => {
  const files = Object.values(manifest.exports).flatMap((entry) =>
    typeof entry === "string" ? [entry] : Object.values(entry as Record<string, string>),
  );
  expect(files.filter((file) => !existsSync(join(PACKAGE, file)))).toEqual([]);
  expect(manifest.private).toBeUndefined();
  expect(manifest.peerDependencies).toMatchObject({ react: ">=18.3", "react-dom": ">=18.3" });
  expect(Object.keys(manifest.dependencies)).not.toContain("react");
  const inexact = Object.values(manifest.dependencies as Record<string, string>).filter(
    (version) => !/^\d/.test(version),
  );
  expect(inexact).toEqual([]);
});

test("the parts weigh at most 60 KB beside React, the diff view left out", async () => {
  const bundle = await rolldown({
    input: join(PACKAGE, "dist/index.js"),
    external: [/^react(?:-dom)?(?:\/|$)/],
    platform: "browser",
    logLevel: "silent",
  });
  const { output } = await bundle.generate({ format: "esm", minify: true });
  const chunks = output.filter((part) => part.type === "chunk");
  const entry = chunks.find(({ isEntry }) => isEntry)!;
  const atOnce = new Set([entry.fileName]);
  for (const name of atOnce)
    for (const next of chunks.find(({ fileName }) => fileName === name)?.imports ?? [])
      if (!next.startsWith("react")) atOnce.add(next);
  const code = chunks.filter(({ fileName }) => atOnce.has(fileName)).map((chunk) => chunk.code);
  expect(gzipSync(code.join("\n")).length).toBeLessThanOrEqual(MOST_BYTES);
  expect(code.join("\n")).not.toContain("getSingularPatch");
});

test("it can be imported where there is no browser, as a server that renders pages does", async () => {
  const parts = await import("@belay/react");
  const names =
    "BelayProvider createClient useCheckpoints useStreamingRefresh CheckpointBadge RestoreDialog Timeline TurnRow StepList DiffView FileTree PendingPanel StoragePanel CheckpointDialog useHistory useDiff usePlan useEvents useSession";
  expect(Object.keys(parts)).toEqual(expect.arrayContaining(names.split(" ")));
});
