import { visible } from "@belay/react";

/** The last part of a path: what people call their project. */
export function nameOf(path: string): string {
  return visible(path.split(/[/\\]/).findLast((part) => part !== "") ?? path);
}
