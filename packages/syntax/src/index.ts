/** What a merge asks about code. Nothing is loaded before the first `load`. */
export { createSyntax } from "./syntax.ts";
export type { Import, Names } from "./language.ts";
export type { Syntax } from "./syntax.ts";
