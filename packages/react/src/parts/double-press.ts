/**
 * [R2161] A second press confirms only what a person has seen: where the button that confirms takes the place of the one
 * that asked, the second half of a double click confirms nothing.
 */
import type { MouseEvent } from "react";

/** True for the second half of a double click; a key never is. */
export function isDoubled({ detail }: Pick<MouseEvent, "detail">): boolean {
  return detail > 1;
}

/** Keeps a form from being sent by the second half of a double click. */
export function unlessDoubled(event: MouseEvent): void {
  if (isDoubled(event)) event.preventDefault();
}
