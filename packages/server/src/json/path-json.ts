/** A path in JSON: text, and the exact bytes beside it where text cannot hold them. */
import { isUtf8 } from "node:buffer";
import type { BytePath } from "@belay/engine";
import type { Json, shapes } from "@belay/protocol";

type PathJson = Json<typeof shapes.pathEntry>;

/** A path as the contract shows it. */
export function pathJson(path: BytePath): PathJson {
  const bytes = Buffer.from(path, "latin1");
  const text = bytes.toString("utf8");
  return isUtf8(bytes) ? { path: text } : { path: text, pathBase64: bytes.toString("base64") };
}

/** The path that a request names: the inverse of `pathJson`. Without the engine's code, which `list` would load with it. */
export function pathFromJson({
  path,
  pathBase64,
}: {
  readonly path?: string | undefined;
  readonly pathBase64?: string | undefined;
}): BytePath {
  const bytes =
    pathBase64 === undefined ? Buffer.from(path ?? "", "utf8") : Buffer.from(pathBase64, "base64");
  return bytes.toString("latin1") as BytePath;
}

/** Entries that are a path and something about it: gaps, conflicts, what was kept. */
export function withPathJson<Item extends { readonly path: BytePath }>(
  item: Item,
): PathJson & Omit<Item, "path"> {
  const { path, ...rest } = item;
  return { ...pathJson(path), ...rest };
}
