/**
 * An agent for tests. Its prompt is a list of things to do, one a line:
 *   write <path> <text>   sleep <ms>   flood   leave <path>   cost <number> <tokens>   fail <code>   hang   env <name> <path>
 *   wait <path>: until there is such a file   lines <number>: so many short ones
 */
const { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } = require("node:fs");
const { dirname } = require("node:path");
const { spawn } = require("node:child_process");

const prompt = process.argv[2] ?? readFileSync(0, "utf8");

const STEPS = {
  write(path, ...text) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, `${text.join(" ")}\n`);
  },
  append: (path, ...text) => appendFileSync(path, `${text.join(" ")}\n`),
  env: (name, path) => writeFileSync(path, process.env[name] ?? "none"),
  sleep: (ms) => new Promise((resolve) => setTimeout(resolve, Number(ms))),
  async wait(path) {
    while (!existsSync(path)) await STEPS.sleep(20);
  },
  hang: () => new Promise(() => setInterval(() => undefined, 1000)),
  flood() {
    for (;;) writeFileSync(1, `${"x".repeat(1 << 16)}\n`);
  },
  lines: (number) => writeFileSync(1, "y\n".repeat(Number(number))),
  // a process in a session of its own, whose parent ends at once
  leave(path) {
    const inner = `setInterval(() => require("node:fs").appendFileSync(${JSON.stringify(path)}, "."), 50)`;
    const outer = `require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(inner)}], { detached: true, stdio: "ignore" }).unref()`;
    spawn(process.execPath, ["-e", outer], { detached: true, stdio: "ignore" }).unref();
  },
  cost: (cost, tokens) =>
    console.log(JSON.stringify({ cost: Number(cost), tokens: Number(tokens), session: "s-1" })),
  say: (...words) => console.log(words.join(" ")),
  fail: (code) => process.exit(Number(code)),
};

void (async () => {
  for (const line of prompt.split("\n")) {
    const [step, ...rest] = line.trim().split(" ");
    if (Object.hasOwn(STEPS, step)) await STEPS[step](...rest);
  }
})();
