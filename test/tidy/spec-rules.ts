/** The rules of `docs/spec.md` and the tests that prove them: neither without the other. */
import { isCode, type Check, type RepositoryFile } from "./repository.ts";
import { lineAt } from "./syntax.ts";
import { citedIds, testTitles } from "./test-titles.ts";

export const SPEC = "docs/spec.md";

/** `**R4**`, or a row of a table that begins with `| R4 |`. */
const RULE = /\*\*([RT]\d+)\*\*|^\|\s*([RT]\d+)\s*\|/gm;

/** Every rule is cited by the title of a test. */
export const checkRulesAreProved: Check = (files) => {
  const titles = files.flatMap(testTitles);
  const proved = new Set(titles.flatMap((title) => citations(title).map(({ rule }) => rule)));
  return [...rules(files)]
    .filter((rule) => !proved.has(rule))
    .map((rule) => `${rule}: no test title cites it`);
};

/** A rule has one meaning. */
export const checkRulesAreUnique: Check = (files) => {
  const spec = files.find(({ path }) => path === SPEC)?.text ?? "";
  const found = [...spec.matchAll(RULE)].map((match) => (match[1] ?? match[2])!);
  return found
    .filter((rule, index) => found.indexOf(rule) !== index)
    .map((rule) => `${SPEC}: ${rule} is there twice`);
};

/** Every citation in code is of a rule that exists. */
export const checkCitationsExist: Check = (files) => {
  const known = rules(files);
  return files.filter(isCode).flatMap((file) =>
    citations(file.text)
      .filter(({ rule }) => !known.has(rule))
      .map(({ rule, at }) => `${file.path}:${lineAt(file, at)}: ${SPEC} has no ${rule}`),
  );
};

function rules(files: readonly RepositoryFile[]): Set<string> {
  const spec = files.find(({ path }) => path === SPEC)?.text ?? "";
  return new Set([...spec.matchAll(RULE)].map((match) => (match[1] ?? match[2])!));
}

function citations(text: string): { rule: string; at: number }[] {
  return citedIds(text)
    .filter(({ id }) => /^[RT]/.test(id))
    .map(({ id, at }) => ({ rule: id, at }));
}
