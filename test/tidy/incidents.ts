/** The incidents of `docs/incidents.md` and the tests that re-enact them: neither without the other. */
import type { Check, RepositoryFile } from "./repository.ts";
import { citedIds, testTitles } from "./test-titles.ts";

/** Where the incidents are. */
export const INCIDENTS = "docs/incidents.md";

const ROW = /^\| (I\d+) \| (.+) \|$/gm;
const WITHOUT_TEST = /^(I\d+) has no test: /gm;

/** Every incident is cited by the title of a test, unless the document says why there is none. */
export const checkIncidentsAreReenacted: Check = (files) => {
  const text = textOf(files);
  const cited = new Set(titles(files).map(({ id }) => id));
  const excused = new Set([...text.matchAll(WITHOUT_TEST)].map(([, id]) => id!));
  return [...text.matchAll(ROW)]
    .filter(([, id]) => cited.has(id!) === excused.has(id!))
    .map(([, id, what]) =>
      excused.has(id!)
        ? `${id}: has a test, ${INCIDENTS} says otherwise`
        : `${id}: no test title cites it (${what})`,
    );
};

/** Every incident that a title cites is one. */
export const checkCitedIncidentsExist: Check = (files) => {
  const known = new Set([...textOf(files).matchAll(ROW)].map(([, id]) => id!));
  return titles(files)
    .filter(({ id }) => !known.has(id))
    .map(({ id, path }) => `${path}: ${INCIDENTS} has no ${id}`);
};

function titles(files: readonly RepositoryFile[]): { id: string; path: string }[] {
  return files.flatMap((file) =>
    testTitles(file).flatMap((title) =>
      citedIds(title).flatMap(({ id }) => (/^I\d+$/.test(id) ? [{ id, path: file.path }] : [])),
    ),
  );
}

function textOf(files: readonly RepositoryFile[]): string {
  return files.find(({ path }) => path === INCIDENTS)?.text ?? "";
}
