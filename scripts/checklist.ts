/**
 * Prints which test proves each line of docs/checklist.md: `npm run checklist`. It fails while a line has no test.
 */
import { checklistLines, openLines, OPEN_LINES } from "../test/tidy/checklist.ts";
import { readRepository } from "../test/tidy/repository.ts";

const files = readRepository();
const lines = checklistLines(files);
for (const { id, what, proofs } of lines) {
  if (proofs.length === 0) console.log(`${id}  no test: ${what}`);
  for (const { title, file } of proofs) console.log(`${id}  ${title}  ${file}`);
}

const missing = lines.filter(({ proofs }) => proofs.length === 0).map(({ id }) => id);
const proved = openLines(files).filter((id) => !missing.includes(id));
console.log(`\n${lines.length} lines, ${lines.length - missing.length} of them proved by a test.`);
if (missing.length > 0) console.log(`No test cites: ${missing.join(" ")}`);
if (proved.length > 0) console.log(`Proved now, remove from ${OPEN_LINES}: ${proved.join(" ")}`);
process.exitCode = missing.length > 0 ? 1 : 0;
