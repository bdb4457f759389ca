/** A conflict in the person's own editor: a file with marks, outside the project, checked before it is taken. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { displayPath, type MergeConflict } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { Call } from "../call/command.ts";

const MARK = /^(<{7}|\|{7}|={7}|>{7})(\s|$)/m;

/** What the editor left; throws where it failed or left marks. */
export async function editConflict(
  { environment, output }: Pick<Call, "environment" | "output">,
  { path, id }: MergeConflict,
  marked: Buffer,
): Promise<Buffer> {
  const { editorOf, runEditor } = await import("@belay/tui");
  const editor = editorOf(environment);
  if (editor === undefined || !output.canAsk)
    throw refused(id, "No editor can be opened here. Set EDITOR, or use --file.");
  const place = mkdtempSync(join(tmpdir(), "belay-conflict-"));
  try {
    const file = join(place, basename(displayPath(path)));
    writeFileSync(file, marked, { mode: 0o600 });
    if (!(await runEditor(editor, [file]))) throw refused(id, "The editor did not end well.");
    const text = readFileSync(file);
    if (MARK.test(text.toString("latin1")) && MARK.test(marked.toString("latin1")))
      throw refused(id, "Conflict marks are left in the text.");
    return text;
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

function refused(conflict: string, reason: string): ContractError {
  return new ContractError("ANSWER_REFUSED", `${reason} Nothing was decided.`, {
    facts: { conflict, options: [] },
  });
}
