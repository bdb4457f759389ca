/** Names that say where a thing belongs, and one front door whose width can be read off. */
import { isCode, type Check } from "./repository.ts";
import { lineAt, walk } from "./syntax.ts";

const SAYS_NOTHING = /^(utils?|shared|common|helpers?|managers?|misc)$|-(utils?|helpers?|managers?)$/;

/** No folder or file of code is a drawer for what found no better place. */
export const checkFileNames: Check = (files) =>
  files.filter(isCode).flatMap(({ path }) => {
    const parts = path.split("/").map((part) => part.replace(/\..*$/, "").toLowerCase());
    return parts.some((part) => SAYS_NOTHING.test(part)) ? [`${path}: the name says nothing`] : [];
  });

/** `src/index.ts` of a package lists what it exports, name by name. */
export const checkFrontDoor: Check = (files) =>
  files
    .filter(({ path }) => /^packages\/[^/]+\/src\/index\.ts$/.test(path))
    .flatMap((file) => {
      const complaints: string[] = [];
      walk(file, (node) => {
        if (node.type !== "ExportAllDeclaration" && node.type !== "ExportDefaultDeclaration") return;
        complaints.push(`${file.path}:${lineAt(file, node.start)}: exports must be listed by name`);
      });
      return complaints;
    });
