/** Syntax trees as plain objects. */

/** A node of a syntax tree. */
export interface TreeNode {
  readonly type: string;
  readonly start: number;
  readonly [key: string]: unknown;
}

/** True for a node, as opposed to a value of one. */
export function isNode(value: unknown): value is TreeNode {
  return typeof value === "object" && value !== null && typeof (value as TreeNode).type === "string";
}
