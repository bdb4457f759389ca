/** Sizes beyond which a file or a function wants to be two. */
import { isCode, isTest, type Check, type RepositoryFile } from "./repository.ts";
import { commentsOf, lineAt, walk } from "./syntax.ts";

/** Lines of code: comments and empty lines are free, so that no explanation is deleted to stay below. */
const FILE_LINES = 600;
/** From here on a file is named, without failing, as one to think about. */
const LONG_FILE_LINES = 400;
const FUNCTION_LINES = 70;
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

/** Files that have grown past what one reads in a sitting. */
export const checkFileSizes: Check = (files) =>
  filesAbove(files, FILE_LINES).map(
    ({ path, lines }) => `${path}: ${lines} lines of code, more than ${FILE_LINES}`,
  );

/** Files that are allowed, but long; for the reader of a test run. */
export function longFiles(files: readonly RepositoryFile[]): string[] {
  return filesAbove(files, LONG_FILE_LINES).map(({ path, lines }) => `${path}: ${lines} lines of code`);
}

function filesAbove(files: readonly RepositoryFile[], limit: number): { path: string; lines: number }[] {
  return files
    .filter(isCode)
    .map((file) => ({ path: file.path, lines: codeLines(file) }))
    .filter(({ lines }) => lines > limit);
}

function codeLines(file: RepositoryFile): number {
  const text = [...commentsOf(file)]
    .toReversed()
    .reduce((rest, { start, end }) => rest.slice(0, start) + rest.slice(end), file.text);
  return text.split("\n").filter((line) => line.trim() !== "").length;
}

/** From the first line of a function to its last; those inside it count. Tests are exempt. */
export const checkFunctionSizes: Check = (files) =>
  files
    .filter((file) => isCode(file) && !isTest(file))
    .flatMap((file) => {
      const complaints: string[] = [];
      walk(file, (node) => {
        if (!FUNCTIONS.has(node.type)) return;
        const first = lineAt(file, node.start);
        const lines = lineAt(file, node.end) - first + 1;
        if (lines <= FUNCTION_LINES) return;
        complaints.push(`${file.path}:${first}: a function of ${lines} lines, more than ${FUNCTION_LINES}`);
      });
      return complaints;
    });
