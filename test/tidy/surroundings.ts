/** The repository speaks of itself alone: nothing of the machine or the network it was written on. */
import { lineAt } from "./syntax.ts";
import type { Check } from "./repository.ts";

const TRACES: readonly (readonly [what: string, pattern: RegExp])[] = [
  ["a path of one machine", /(?<![\w.~$}-])\/(?:work|root|(?:home|Users)\/[\w.-]+)\//g],
  ["a path of one machine", /\b[A-Z]:\\Users\\/g],
  ["a file outside the repository", /(?:\.\.\/)+shared\//g],
  ["a package registry", /"resolved":\s*"https?:\/\/|^\s*registry\s*=/gm],
  ["a host of a private network", /https?:\/\/[\w.-]+\.(?:internal|local|lan|svc)\b/g],
];

/** What looks like a trace and is meant: the home directories of examples. */
const MEANT = ["/home/you/", "/Users/you/"];

export const checkSurroundings: Check = (files) =>
  files.flatMap((file) =>
    TRACES.flatMap(([what, pattern]) =>
      [...file.text.matchAll(pattern)]
        .filter(([found]) => !MEANT.includes(found))
        .map((match) => `${file.path}:${lineAt(file, match.index)}: ${match[0].trim()} is ${what}`),
    ),
  );
