/** Collects the names of a text. */
import type { Names } from "./language.ts";

/** Names as they are met. */
export class NameBook implements Names {
  readonly declared = new Set<string>();
  readonly used = new Map<string, number>();

  declare(name: string): void {
    this.declared.add(name);
  }

  use(name: string, line: number): void {
    if (!this.used.has(name)) this.used.set(name, line);
  }
}
