/** What the screens remember between runs, in a small private file of Belay's home. */
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ScreenMemory } from "@belay/tui";

/** The memory in this home. Writing replaces the file whole; what cannot be written is thrown. */
export function screenMemory(home: string): ScreenMemory {
  const file = join(home, "screens.json");
  return {
    read() {
      try {
        return readFileSync(file, "utf8");
      } catch {
        // the first time there is none; what cannot be read is as good as none
        return undefined;
      }
    },
    write(text) {
      mkdirSync(home, { recursive: true, mode: 0o700 });
      const next = `${file}.${process.pid}`;
      writeFileSync(next, text, { mode: 0o600 });
      renameSync(next, file);
    },
  };
}
