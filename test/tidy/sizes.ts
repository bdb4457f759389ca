/** Sizes beyond which a file or a function wants to be two. */
import { isCode, isTest, type Check } from "./repository.ts";
import { lineAt, walk } from "./syntax.ts";

const FILE_LINES = 400;
const TEST_FILE_LINES = 600;
const FUNCTION_LINES = 70;
const FUNCTIONS = new Set(["FunctionDeclaration", "FunctionExpression", "ArrowFunctionExpression"]);

export const checkFileSizes: Check = (files) =>
  files.filter(isCode).flatMap((file) => {
    const lines = file.text.split("\n").length - (file.text.endsWith("\n") ? 1 : 0);
    const limit = isTest(file) ? TEST_FILE_LINES : FILE_LINES;
    return lines > limit ? [`${file.path}: ${lines} lines, more than ${limit}`] : [];
  });

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
