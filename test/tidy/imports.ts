/** Who may import what: the direction of the layers, and who may touch files at all. */
import { posix } from "node:path";
import { enginePath, isCode, isTest, type Check, type RepositoryFile } from "./repository.ts";
import { importsOf } from "./syntax.ts";

/** The folders of the engine from the ground up: each imports only from those before it. */
const ENGINE_ORDER =
  "model fs git store diff merge history upkeep rules exchange scan capture restore steps branch merging fork ghost settings queries workspace opening".split(
    " ",
  );

/**
 * The folders of every package that has an order. What lies directly in `src` is a front door or a program and stands
 * above all of them, unless it is named here.
 */
const ORDERS: Readonly<Record<string, readonly string[]>> = {
  engine: ENGINE_ORDER,
  agents:
    "events state settings conversation hooks adapters handling install mcp tools review run orchestrate fix".split(
      " ",
    ),
  "drop-in": "frame agentsmithy supervisor mimir moldable code-buddy".split(" "),
  remote: "parcel keys line stores space sync share".split(" "),
  server: "json http hosting routes mounts resident".split(" "),
  tui: "text words.ts terminal frame data questions plans screens slash-commands".split(" "),
  cli: "version.ts output call resident notices search-index agents wiring going-back merging mcp archive imports demo command-parts commands".split(
    " ",
  ),
};

/** The checks that every store has to pass. */
const ABOVE_ALL = new Set(["", "testing"]);

const MCP_PACKAGES = /^(@modelcontextprotocol\/server(\/stdio)?|zod|@belay\/protocol\/shapes)$/;

const TOUCHES_FILES = /^(node:)?(fs|fs\/promises|child_process)$/;

/** A folder imports only from the folders it stands on. */
export const checkLayers: Check = (files) =>
  files.flatMap((file) => {
    const place = placeOf(file.path);
    if (place === undefined || !isCode(file) || isTest(file)) return [];
    const height = heightOf(place);
    if (height === undefined)
      return [`${file.path}: the folder ${place.layer} has no place among the layers`];
    return relativeImports(file)
      .filter(({ target }) => {
        const other = placeOf(target);
        if (other?.name !== place.name) return true;
        return other.layer !== place.layer && !(heightOf(other)! < height);
      })
      .map(({ target, line }) => `${file.path}:${line}: ${place.layer || "src"} may not import ${target}`);
  });

/** The package and the layer of a file; undefined where a package has no order. */
interface Place {
  readonly name: string;
  readonly layer: string;
}

function placeOf(path: string): Place | undefined {
  const [, name, inside] = /^packages\/([\w-]+)\/src\/(.*)$/.exec(path) ?? [];
  const order = name === undefined ? undefined : ORDERS[name];
  if (name === undefined || inside === undefined || order === undefined) return undefined;
  return { name, layer: order.includes(inside) ? inside : layerOf(inside) };
}

function heightOf({ name, layer }: Place): number | undefined {
  const order = ORDERS[name]!;
  if (ABOVE_ALL.has(layer)) return order.length;
  const height = order.indexOf(layer);
  return height === -1 ? undefined : height;
}

function layerOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
}

/** No file imports itself by way of others, types included: what needs each other is one thing, or wants a third. */
export const checkCycles: Check = (files) => {
  const imports = new Map(
    files
      .filter((file) => /^packages\/[\w-]+\/src\//.test(file.path) && isCode(file) && !isTest(file))
      .map((file) => [file.path, relativeImports(file).map(({ target }) => target)]),
  );
  return cyclesOf(imports).map((cycle) => `${cycle[0]}: imports itself through ${cycle.slice(1).join(", ")}`);
};

/** The groups of nodes that all lead to each other (Tarjan), each from its first name on. */
function cyclesOf(edges: ReadonlyMap<string, readonly string[]>): string[][] {
  const found = new Map<string, { index: number; low: number; open: boolean }>();
  const open: string[] = [];
  const cycles: string[][] = [];
  const visit = (node: string) => {
    const state = { index: found.size, low: found.size, open: true };
    found.set(node, state);
    open.push(node);
    for (const next of edges.get(node) ?? []) {
      if (!edges.has(next)) continue;
      const known = found.get(next) ?? visit(next);
      if (known.open) state.low = Math.min(state.low, known.low);
    }
    if (state.low === state.index) {
      const group = open.splice(open.indexOf(node));
      for (const each of group) found.get(each)!.open = false;
      if (group.length > 1 || edges.get(node)!.includes(node)) cycles.push(group.toSorted());
    }
    return state;
  };
  for (const node of edges.keys()) if (!found.has(node)) visit(node);
  return cycles;
}

function relativeImports(file: RepositoryFile): { target: string; line: number }[] {
  return importsOf(file)
    .filter(({ specifier }) => specifier.startsWith("."))
    .map(({ specifier, line }) => ({ target: posix.join(posix.dirname(file.path), specifier), line }));
}

/** In the engine only `src/fs` and `src/git` touch files or start programs. */
export const checkFileAccess: Check = (files) =>
  files.flatMap((file) => {
    const path = enginePath(file);
    if (path === undefined || !isCode(file) || /^(fs|git)$/.test(layerOf(path))) return [];
    return importsOf(file)
      .filter(({ specifier }) => TOUCHES_FILES.test(specifier))
      .map(({ specifier, line }) => `${file.path}:${line}: only src/fs and src/git may import ${specifier}`);
  });

/** The command line puts the packages together: it knows all of them, by their front doors only. */
export const checkCliImports: Check = (files) =>
  files.flatMap((file) => {
    if (!file.path.startsWith("packages/cli/") || !isCode(file) || isTest(file)) return [];
    const outside = relativeImports(file).filter(({ target }) => !target.startsWith("packages/cli/"));
    const foreign = importsOf(file).filter(
      ({ specifier }) => !/^(\.|node:)/.test(specifier) && !FRONT_DOORS.has(specifier),
    );
    return [
      ...outside.map(({ target, line }) => `${file.path}:${line}: the CLI may not import ${target}`),
      ...foreign.map(({ specifier, line }) => `${file.path}:${line}: the CLI may not import ${specifier}`),
    ];
  });

const FRONT_DOORS = new Set([
  "@belay/engine",
  "@belay/protocol",
  "@belay/protocol/client",
  "@belay/protocol/command-text",
  "@belay/protocol/errors",
  "@belay/protocol/redact",
  "@belay/remote",
  "@belay/retrieval",
  "@belay/drop-in",
  "@belay/drop-in/moldable",
  "@belay/server",
  "@belay/server/json",
  "@belay/syntax",
  "@belay/server/resident",
  "@belay/tui",
  "@belay/tui/commands",
  "@belay/tui/text",
  "@belay/agents",
  "@belay/agents/client",
  "@belay/agents/event-journey",
  "@belay/agents/hook",
  "@belay/agents/answer-form",
  "@belay/agents/late-answer",
  "@belay/agents/uncaptured",
  "@belay/agents/mcp",
  "@belay/agents/orchestration",
]);

/** The protocol imports no other package; the server knows the protocol and the engine's front door. */
export const checkServerImports: Check = (files) =>
  files.flatMap((file) => {
    const home = /^packages\/(protocol|server)\/src\//.exec(file.path);
    if (home === null || !isCode(file) || isTest(file)) return [];
    const allowed = home[1] === "protocol" ? /^(\.|node:|zod$)/ : SERVER_MAY;
    return importsOf(file)
      .filter(({ specifier }) => !allowed.test(specifier))
      .map(({ specifier, line }) => `${file.path}:${line}: the ${home[1]} may not import ${specifier}`);
  });

/** What every command and every hook loads of the protocol: it loads nothing else, zod above all. */
const LIGHT = new Set(
  (
    "client command-text escalation exit-code read-events redact " +
    "errors error-table error-row engine-errors command-errors remote-errors api-errors name-hints"
  )
    .split(" ")
    .map((name) => `packages/protocol/src/${name}.ts`),
);

/** The light part of the protocol imports types and itself only. */
export const checkLightProtocol: Check = (files) =>
  files
    .filter((file) => LIGHT.has(file.path))
    .flatMap((file) =>
      importsOf(file)
        .filter(({ isType }) => !isType)
        .filter(({ specifier }) => !LIGHT.has(posix.join(posix.dirname(file.path), specifier)))
        .map(({ specifier, line }) => `${file.path}:${line}: every command would load ${specifier}`),
    );

const SERVER_MAY =
  /^(\.|node:|zod$|hono(\/|$)|@hono\/node-server$|@belay\/(engine|protocol)(\/(client|command-text|errors|redact))?$)/;

/** The agents' package knows neither engine nor server nor CLI, of the protocol only its errors, how secrets are left out and the words that it shares with the terminal; the MCP SDK stays with the MCP server. */
export const checkAgentsImports: Check = (files) =>
  files.flatMap((file) => {
    if (!file.path.startsWith("packages/agents/src/") || !isCode(file) || isTest(file)) return [];
    const outside = relativeImports(file).filter(({ target }) => !target.startsWith("packages/agents/src/"));
    const mayUseSdk = file.path.startsWith("packages/agents/src/mcp/");
    const foreign = importsOf(file).filter(
      ({ specifier }) =>
        !/^(\.|node:|@belay\/protocol\/(errors|escalation|redact)$)/.test(specifier) &&
        !(mayUseSdk && MCP_PACKAGES.test(specifier)),
    );
    return [
      ...outside.map(({ target, line }) => `${file.path}:${line}: agents may not import ${target}`),
      ...foreign.map(({ specifier, line }) => `${file.path}:${line}: agents may not import ${specifier}`),
    ];
  });
