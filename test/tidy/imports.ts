/** Who may import what: the direction of the layers, and who may touch files at all. */
import { posix } from "node:path";
import { enginePath, isCode, isTest, type Check, type RepositoryFile } from "./repository.ts";
import { importsOf } from "./syntax.ts";

/** The folders of the engine from the ground up: each imports only from those before it. */
const ENGINE_ORDER =
  "model fs git store diff merge history upkeep rules scan capture restore steps settings queries workspace opening".split(
    " ",
  );

/** The engine's own front door, and the checks that every store has to pass. */
const ABOVE_ALL = new Set(["", "testing"]);

const MCP_PACKAGES = /^(@modelcontextprotocol\/server(\/stdio)?|zod)$/;

const TOUCHES_FILES = /^(node:)?(fs|fs\/promises|child_process)$/;

/** A folder of the engine imports only from the folders it stands on. */
export const checkLayers: Check = (files) =>
  files.flatMap((file) => {
    const path = enginePath(file);
    if (path === undefined || !isCode(file)) return [];
    const layer = layerOf(path);
    const height = heightOf(layer);
    if (height === undefined) return [`${file.path}: the folder ${layer} has no place among the layers`];
    return relativeImports(file)
      .filter(({ target }) => {
        const other = layerOf(target.slice("packages/engine/src/".length));
        return (
          !target.startsWith("packages/engine/src/") || (other !== layer && !(heightOf(other)! < height))
        );
      })
      .map(({ target, line }) => `${file.path}:${line}: ${layer || "src"} may not import ${target}`);
  });

function heightOf(layer: string): number | undefined {
  if (ABOVE_ALL.has(layer)) return ENGINE_ORDER.length;
  const height = ENGINE_ORDER.indexOf(layer);
  return height === -1 ? undefined : height;
}

function layerOf(path: string): string {
  return path.includes("/") ? path.slice(0, path.indexOf("/")) : "";
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
  "@belay/server",
  "@belay/server/json",
  "@belay/server/resident",
  "@belay/agents",
  "@belay/agents/client",
  "@belay/agents/hook",
  "@belay/agents/answer-form",
  "@belay/agents/let-go",
  "@belay/agents/uncaptured",
  "@belay/agents/mcp",
]);

/** The protocol knows nobody; the server knows the protocol and the engine's front door. */
export const checkServerImports: Check = (files) =>
  files.flatMap((file) => {
    const home = /^packages\/(protocol|server)\/src\//.exec(file.path);
    if (home === null || !isCode(file) || isTest(file)) return [];
    const allowed = home[1] === "protocol" ? /^(\.|node:|zod$)/ : SERVER_MAY;
    return importsOf(file)
      .filter(({ specifier }) => !allowed.test(specifier))
      .map(({ specifier, line }) => `${file.path}:${line}: the ${home[1]} may not import ${specifier}`);
  });

const SERVER_MAY =
  /^(\.|node:|zod$|hono(\/|$)|@hono\/node-server$|@belay\/(engine|protocol)(\/(client|command-text|errors|redact))?$)/;

/** The agents' package knows neither engine nor server nor CLI, of the protocol only its errors and how secrets are left out; the MCP SDK stays with the MCP server. */
export const checkAgentsImports: Check = (files) =>
  files.flatMap((file) => {
    if (!file.path.startsWith("packages/agents/src/") || !isCode(file) || isTest(file)) return [];
    const outside = relativeImports(file).filter(({ target }) => !target.startsWith("packages/agents/src/"));
    const mayUseSdk = file.path.startsWith("packages/agents/src/mcp/");
    const foreign = importsOf(file).filter(
      ({ specifier }) =>
        !/^(\.|node:|@belay\/protocol\/(errors|redact)$)/.test(specifier) &&
        !(mayUseSdk && MCP_PACKAGES.test(specifier)),
    );
    return [
      ...outside.map(({ target, line }) => `${file.path}:${line}: agents may not import ${target}`),
      ...foreign.map(({ specifier, line }) => `${file.path}:${line}: agents may not import ${specifier}`),
    ];
  });
