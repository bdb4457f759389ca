/** The names that branches may have: git's rules, so that each can be exported as a git branch of the same name. */
import { EngineError } from "../model/errors.ts";

/** Throws `BRANCH_NAME_INVALID` unless git would accept the name for a branch. */
export function assertBranchName(name: string): void {
  const reason = problemOf(name);
  if (reason === undefined) return;
  throw new EngineError(
    "BRANCH_NAME_INVALID",
    `A branch cannot be called "${name.slice(0, 80)}": ${reason}. Nothing was changed.`,
    { branch: name, reason },
  );
}

const LONGEST = 200;

/** `git check-ref-format --branch`, in the order in which a person would look for the problem. */
function problemOf(name: string): string | undefined {
  if (name === "") return "it is empty";
  if (name.length > LONGEST) return `it is longer than ${LONGEST} characters`;
  // oxlint-disable-next-line no-control-regex
  const forbidden = /[\u0000-\u0020\u007f~^:?*[\\]/.exec(name)?.[0];
  if (forbidden !== undefined)
    return forbidden.trim() === ""
      ? "it has a blank or control character in it"
      : `it has "${forbidden}" in it`;
  if (name.includes("..")) return 'it has ".." in it';
  if (name.includes("@{") || name === "@") return 'it has "@{" in it, or is "@"';
  if (name.startsWith("-")) return 'it begins with "-"';
  if (name.startsWith("/") || name.endsWith("/") || name.includes("//"))
    return "a slash begins or ends it, or is followed by another";
  if (name.endsWith(".")) return "it ends with a dot";
  if (name.split("/").some((part) => part.startsWith(".") || part.endsWith(".lock")))
    return 'a part of it begins with a dot or ends with ".lock"';
  return name === "HEAD" ? "git keeps that name to itself" : undefined;
}
