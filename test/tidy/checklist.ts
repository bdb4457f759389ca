/** The lines of `docs/checklist.md` and the tests that prove them. */
import type { Check, RepositoryFile } from "./repository.ts";
import { citedIds, testTitles } from "./test-titles.ts";

/** Where the lines are. */
export const CHECKLIST = "docs/checklist.md";

/** Where the lines are named that no test proves yet. The list may only become shorter. */
export const OPEN_LINES = "test/tidy/open-lines.txt";

const LINE = /^\| ([AYMLC]\d+) \| (.+) \|$/gm;

/** A line of the checklist, and each test whose title cites it. */
export interface ChecklistLine {
  readonly id: string;
  readonly what: string;
  readonly proofs: readonly { readonly title: string; readonly file: string }[];
}

/** Every line with its tests, in the order of the document. */
export function checklistLines(files: readonly RepositoryFile[]): ChecklistLine[] {
  const proofs = new Map<string, { title: string; file: string }[]>();
  for (const file of files) {
    for (const title of testTitles(file)) {
      for (const { id } of citedIds(title)) {
        const found = proofs.get(id);
        const proof = { title: title.slice(1, -1), file: file.path };
        if (found === undefined) proofs.set(id, [proof]);
        else found.push(proof);
      }
    }
  }
  return [...textOf(files, CHECKLIST).matchAll(LINE)].map(([, id, what]) => ({
    id: id!,
    what: what!,
    proofs: proofs.get(id!) ?? [],
  }));
}

/** The ids that are listed as not proved yet. */
export function openLines(files: readonly RepositoryFile[]): string[] {
  return textOf(files, OPEN_LINES)
    .split("\n")
    .filter((line) => line !== "");
}

/** Every line has a test, but for those that are listed as open. */
export const checkLinesAreProved: Check = (files) => {
  const open = new Set(openLines(files));
  return checklistLines(files)
    .filter(({ id, proofs }) => proofs.length === 0 && !open.has(id))
    .map(({ id, what }) => `${id}: no test title cites it (${what})`);
};

/** The list of open lines names lines of the checklist, each once. */
export const checkOpenLines: Check = (files) => {
  const known = new Set(checklistLines(files).map(({ id }) => id));
  const open = openLines(files);
  return open
    .filter((id, index) => !known.has(id) || open.indexOf(id) !== index)
    .map((id) => `${OPEN_LINES}: ${id} is no line of ${CHECKLIST}, or is there twice`);
};

/** Every line of the checklist that a title cites is one. */
export const checkCitedLinesExist: Check = (files) => {
  const known = new Set(checklistLines(files).map(({ id }) => id));
  return files.flatMap((file) =>
    testTitles(file)
      .flatMap((title) => citedIds(title).map(({ id }) => id))
      .filter((id) => /^[AYMLC]\d\d$/.test(id) && !known.has(id))
      .map((id) => `${file.path}: ${CHECKLIST} has no ${id}`),
  );
};

function textOf(files: readonly RepositoryFile[], wanted: string): string {
  return files.find(({ path }) => path === wanted)?.text ?? "";
}
