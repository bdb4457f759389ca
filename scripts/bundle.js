/**
 * Makes the command out of a few files: importing a hundred modules one by one takes longer than most
 * commands do, and importing Node's own modules as ES modules loads more of them than a command needs:
 * hence CommonJS. The engine's worker is a program of its own, beside the command that starts it by file name.
 */
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  readdirSync,
  readFileSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join, resolve } from "node:path";
import { build } from "rolldown";
import { licencesOf } from "./licences.js";

const TARGET = "packages/cli/dist";
/** Written last. */
const DONE = join(TARGET, "package.json");
/** Compiled, where there was a compiler. */
const NATIVE = ["packages/engine/dist/look.node", "packages/agents/dist/belay-hook"];
const PAGE = "packages/web/dist";

/** What every command loads, and no more than one needs that the resident process runs: with all they import, one file. */
const START = compiled("main", "resident/ask-resident");
/** What other commands load besides, and a hook: one file more, because each takes half a millisecond. */
const ALONE = compiled("dispatch", "call/surroundings", "report-failure", "commands/hook");

/** Libraries that only the resident process and the MCP server need. */
const LARGE = /node_modules[/](?:zod|hono|@hono|@modelcontextprotocol)[/]/;
const ENGINE = /engine[/]dist[/]/;
/** Only commands about remotes load it. */
const REMOTE = /packages[/]remote[/]dist[/]|node_modules[/]aws4fetch[/]/;

/** Only a PostgreSQL remote loads it, with its first request. */
const POSTGRES = /node_modules[/](?:pg|pg-[a-z-]+|pgpass|postgres-[a-z]+|split2|xtend)[/]/;

/** Node has loaded these before any command runs. */
const AT_HAND = new Set(["node:buffer", "node:fs", "node:module", "node:path", "node:url", "node:util"]);

const shared = {
  platform: "node",
  output: { dir: TARGET, format: "cjs", entryFileNames: "[name].js", comments: false },
};

if (isOutdated()) await bundle();

/** A build that would change nothing is skipped: `npm install` builds, and so do `npm start` and `npm test`. */
function isOutdated() {
  const built = statSync(DONE, { throwIfNoEntry: false });
  const inputs = globSync([
    "packages/{agents,engine,protocol,remote,retrieval,server,tui}/dist/**/*.js",
    "packages/cli/compiled/**/*.js",
    "packages/web/dist/policy.json",
  ]);
  return [...inputs, ...NATIVE.filter(existsSync), "scripts/bundle.js", "package-lock.json"].some(
    (file) => built === undefined || statSync(file).mtimeMs > built.mtimeMs,
  );
}

async function bundle() {
  const command = await build({
    ...shared,
    input: { main: "packages/cli/compiled/main.js" },
    // a bundle of its own: see below
    // the parsers of a merge come apart from the command; the last two are asked for by pg, and not needed
    external: ["@belay/tui", "@belay/syntax", "pg-native", "pg-cloudflare"],
    preserveEntrySignatures: "allow-extension",
    // what is loaded late by one command and early by another is in the group that the early one needs
    checks: { ineffectiveDynamicImport: false },
    output: {
      ...shared.output,
      chunkFileNames: "[name]-[hash].js",
      cleanDir: true,
      codeSplitting: {
        includeDependenciesRecursively: false,
        groups: [
          {
            debugName: "by what it needs",
            name: (id, graph) => groupOf(id, (one) => graph.getModuleInfo(one)?.importedIds ?? []),
          },
        ],
      },
    },
  });

  const screens = await build({
    ...shared,
    input: { screens: "packages/tui/dist/index.js" },
    // loaded only where a developer of Ink asks for it
    external: ["react-devtools-core"],
    // React checks what developers do unless it is told not to; the layout engine would load Node's whole HTTP client
    // to decode its own text
    transform: { define: { "process.env.NODE_ENV": '"production"', fetch: "undefined" } },
    // Ink's layout is WebAssembly, which is ready when the module is: CommonJS cannot wait for that
    output: {
      ...shared.output,
      format: "esm",
      entryFileNames: "[name].mjs",
      chunkFileNames: "[name]-[hash].mjs",
    },
  });
  await build({ ...shared, input: { "pack-worker": "packages/engine/dist/capture/pack-worker.js" } });

  for (const name of readdirSync(TARGET)) {
    const file = join(TARGET, name);
    writeFileSync(file, asciiOnly(builtinsWhenUsed(inPlace(readFileSync(file, "utf8")))));
  }
  for (const file of NATIVE.filter(existsSync)) copyFileSync(file, join(TARGET, basename(file)));
  cpSync(PAGE, join(TARGET, "page"), { recursive: true });
  writeFileSync(
    join(TARGET, "LICENSES.txt"),
    licencesOf([...command.output, ...screens.output].flatMap(({ modules = {} }) => Object.keys(modules))),
  );
  const { manPage } = await import("../packages/cli/compiled/man-page.js");
  const { version } = JSON.parse(readFileSync("packages/cli/package.json", "utf8"));
  writeFileSync(join(TARGET, "belay.1"), await manPage(version));
  writeFileSync(DONE, `{ "type": "commonjs" }\n`);
}

/** The names of what lies beside the bundle, and nothing loaded that a start does not need. */
function inPlace(source) {
  return (
    source
      .replace(`"@belay/engine/look.node"`, `"./look.node"`)
      .replaceAll(`"@belay/tui"`, `"./screens.mjs"`)
      // a library of Ink's checks one parameter with it; to load it takes longer than to draw the first screen
      .replace(
        `var assert = __require("assert");`,
        `var assert = { equal: (...values) => __require("assert").equal(...values) };`,
      )
  );
}

/**
 * The file a module goes into: a command loads its own code, then the engine when it opens a workspace. A module that
 * needs a large library stays out of both, or every command would load that library.
 */
function groupOf(id, importsOf) {
  const isIn = (roots) => roots.some((root) => withImports(root, importsOf).has(id));
  if (isIn(START)) return "start";
  if (isIn(ALONE)) return "alone";
  const needed = [...withImports(id, importsOf)];
  if (needed.some((one) => LARGE.test(one))) return null;
  if (REMOTE.test(id)) return "remote";
  if (POSTGRES.test(id)) return "postgres";
  if (ENGINE.test(id) || /fast-myers-diff/.test(id)) return "engine";
  return needed.some((one) => ENGINE.test(one)) ? "with-engine" : "commands";
}

function compiled(...names) {
  return names.map((name) => resolve(`packages/cli/compiled/${name}.js`));
}

function withImports(id, importsOf, found = new Set()) {
  if (found.has(id)) return found;
  found.add(id);
  for (const imported of importsOf(id)) withImports(imported, importsOf, found);
  return found;
}

/** Loads Node's own modules when they are first used: `node:crypto`, `node:http` and the like take milliseconds each. */
function builtinsWhenUsed(source) {
  const lines = source.matchAll(/^let (node_\w+) = require\("(node:[\w/]+)"\);$/gm);
  for (const [line, variable, builtin] of lines) {
    // a library that imports the module's default has it wrapped, and by then loaded
    if (AT_HAND.has(builtin) || source.includes(`__toESM(${variable}`)) continue;
    source = source
      .replaceAll(new RegExp(`\\b${variable}\\.`, "g"), `(${variable}()).`)
      .replace(
        line,
        `let ${variable}$loaded;\nlet ${variable} = () => (${variable}$loaded ??= require("${builtin}"));`,
      );
  }
  return source;
}

/** One letter beyond Latin-1 makes Node keep a file in twice the memory and read it in twice the time. */
function asciiOnly(source) {
  return source.replace(
    /[^\0-\x7f]/g,
    (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
