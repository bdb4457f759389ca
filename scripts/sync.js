/**
 * Makes the synchronous face of the engine (`@belay/engine/sync`) from its ordinary build. Without a watcher the engine
 * waits for nothing: its `async` and `await` only put promises around work that is done at once. So the face is the same
 * code without those words, in `dist/sync`: every module that `dist/sync.js` reaches and that says `async`, and those
 * on the way to one. All others, with everything that knows a file or the store, are shared with the ordinary build.
 */
import { existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { parseSync } from "oxc-parser";

const DIST = "packages/engine/dist";
const TWINS = `${DIST}/sync`;

/** What really waits. The face has no method that reaches it. */
const WAITS = /^(capture\/live|fs|store)\/|^queries\/(find-in-history|matching-contents)\.js$/;

const modules = readModules("sync.js");
const twins = findTwins();
for (const name of globSync("**/*.js", { cwd: TWINS })) if (!twins.has(name)) rmSync(join(TWINS, name));
for (const name of twins) {
  const path = join(TWINS, name);
  const text = twinOf(name);
  // one that was written again would have the command bundled again, also under the tests that run it
  if (existsSync(path) && readFileSync(path, "utf8") === text) continue;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

/** Every module that one imports, itself and by way of others. */
function readModules(first) {
  const found = new Map();
  const waiting = [first];
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (found.has(name)) continue;
    const text = readFileSync(join(DIST, name), "utf8");
    const { module } = parseSync(name, text);
    const imports = [...module.staticImports, ...module.staticExports.flatMap(({ entries }) => entries)]
      .map(({ moduleRequest }) => moduleRequest)
      .filter((request) => request?.value.startsWith("."))
      .map((request) => ({ ...request, target: join(dirname(name), request.value) }));
    found.set(name, { text, imports, words: WAITS.test(name) ? [] : waitingWords(name, text) });
    waiting.push(...imports.map(({ target }) => target));
  }
  return found;
}

/** The modules with `async` in them, and all that import one of those. */
function findTwins() {
  const found = new Set([...modules.keys()].filter((name) => modules.get(name).words.length > 0));
  for (let before = -1; before !== found.size;) {
    before = found.size;
    for (const [name, { imports }] of modules)
      if (imports.some(({ target }) => found.has(target))) found.add(name);
  }
  return found;
}

/** The places of `async` and `await`, with the space behind them. */
function waitingWords(name, text) {
  const words = [];
  const word = (start, expected) => {
    if (text.slice(start, start + 5) !== expected)
      throw new Error(`${name}: "${expected}" is not at ${start}`);
    words.push({ start, end: start + 6 });
  };
  visit(parseSync(name, text).program, (node, parent) => {
    if (node.type === "AwaitExpression") word(node.start, "await");
    else if (node.type === "VariableDeclaration" && node.kind === "await using") word(node.start, "await");
    else if (node.type === "ForOfStatement" && node.await) word(text.indexOf("await", node.start), "await");
    else if (node.type === "MemberExpression" && node.property.name === "asyncDispose")
      words.push({ start: node.property.start, end: node.property.end, text: "dispose" });
    else if (node.async === true) {
      const isMethod = parent.type === "MethodDefinition" || (parent.type === "Property" && parent.method);
      word(text.indexOf("async", isMethod ? parent.start : node.start), "async");
    }
  });
  return words;
}

function visit(node, see, parent) {
  if (typeof node?.type === "string") see(node, parent);
  for (const value of Object.values(node))
    if (value !== null && typeof value === "object")
      visit(value, see, node.type === undefined ? parent : node);
}

/** A module without its waiting words, importing twins where there are any and the ordinary modules elsewhere. */
function twinOf(name) {
  const { text, imports, words } = modules.get(name);
  const here = dirname(join(TWINS, name));
  const places = imports.map(({ start, end, target }) => {
    const path = relative(here, join(twins.has(target) ? TWINS : DIST, target));
    return { start, end, text: JSON.stringify(path.startsWith(".") ? path : `./${path}`) };
  });
  const all = new Map([...places, ...words].map((place) => [place.start, place]));
  let [result, done] = ["", 0];
  for (const { start, end, text: instead = "" } of [...all.values()].toSorted((a, b) => a.start - b.start)) {
    result += text.slice(done, start) + instead;
    done = end;
  }
  return result + text.slice(done);
}
