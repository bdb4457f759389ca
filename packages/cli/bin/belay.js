#!/usr/bin/env node
/**
 * The launcher: starts the command under a Node that can run it. It has no dependency and uses nothing
 * newer than Node 20, because saying what is missing is its job there. Under Node 24 it only loads the
 * command; under an older one it runs itself again with the pinned Node, and passes on input, output,
 * signals and the exit code. It fails with exactly one line.
 * CommonJS, like the bundle it loads: as ES modules the same files take a fifth longer to start.
 */
const { chmodSync, existsSync, mkdirSync, statSync } = require("node:fs");
const nodeModule = require("node:module");
const { constants, homedir } = require("node:os");
const { dirname, join } = require("node:path");

const NEEDED_MAJOR = 24;
/** Set for the second start only, and removed there: a Node that is still too old must not start a third. */
const SECOND_START = "BELAY_SECOND_START";

/** Its real path: Node resolves the link in `node_modules/.bin` before it loads this file. */
const launcher = __filename;
const isSecondStart = process.env[SECOND_START] !== undefined;
delete process.env[SECOND_START];

if (Number.parseInt(process.versions.node, 10) >= NEEDED_MAJOR) {
  void runCommand();
} else {
  const newerNode = isSecondStart ? undefined : findNewerNode();
  if (newerNode === undefined) fail(nodeMissing());
  else startAgain(newerNode);
}

async function runCommand() {
  const command = join(__dirname, "../dist/main.js");
  if (!existsSync(command)) {
    fail("belay is not built: run `npm install` or `npm run build` in its repository.");
    return;
  }
  enableCompileCache();
  const { main } = require(command);
  process.exitCode = await main(process.argv.slice(2));
  // To take apart what is left takes longer than to end; but a slow reader has to get everything.
  if (process.stdout.writableLength === 0 && process.stderr.writableLength === 0) process.exit();
}

/** Compiled code is kept where the user alone may write: elsewhere, others could plant theirs. */
function enableCompileCache() {
  try {
    const own = join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "belay");
    if (mkdirSync(own, { recursive: true, mode: 0o700 }) !== undefined) chmodSync(own, 0o700);
    const { uid, mode } = statSync(own);
    const isOwn = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    if (isOwn) nodeModule.enableCompileCache(join(own, "compiled"));
  } catch {
    // Without a home directory the start is slower, nothing else.
  }
}

/** `BELAY_NODE`, else the `node` package in a `node_modules` above the launcher. */
function findNewerNode() {
  if (process.env.BELAY_NODE) return process.env.BELAY_NODE;
  const executable = process.platform === "win32" ? "node.exe" : "node";
  for (let at = dirname(launcher); ; at = dirname(at)) {
    const candidate = join(at, "node_modules", "node", "bin", executable);
    if (existsSync(candidate)) return candidate;
    if (at === dirname(at)) return undefined;
  }
}

function startAgain(node) {
  const { spawn } = require("node:child_process");
  const { isatty } = require("node:tty");
  const child = spawn(node, [launcher, ...process.argv.slice(2)], {
    stdio: "inherit",
    env: { ...process.env, [SECOND_START]: "1" },
  });
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
    process.on(signal, () => {
      // A terminal sends Ctrl-C to both processes: passed on, it would count as pressed twice.
      if (signal === "SIGINT" && [0, 1, 2].some(isatty)) return;
      child.kill(signal);
    });
  }
  child.on("error", (error) => fail(`belay cannot run ${node} (${error.code}): ${whatToInstall()}`));
  child.on("exit", (code, signal) => {
    process.exitCode = signal === null ? code : 128 + constants.signals[signal];
  });
}

function nodeMissing() {
  const present = `this is ${process.versions.node} (${process.execPath})`;
  return `belay needs Node ${NEEDED_MAJOR} or newer and ${present}: ${whatToInstall()}`;
}

function whatToInstall() {
  return `install Node ${NEEDED_MAJOR} from https://nodejs.org, or set BELAY_NODE to the path of one.`;
}

function fail(line) {
  process.stderr.write(`${line}\n`);
  process.exitCode = 1;
}
