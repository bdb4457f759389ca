/** What a row or step changed, saved as a patch. */
import { writeFile } from "node:fs/promises";
import { resolve } from "node:path";
import type { Chosen } from "../data/history-row.ts";
import type { Source } from "../data/source.tsx";
import type { Frame } from "../frame/frame.tsx";
import { count, size } from "../text/quantity.ts";
import { visibleLine } from "../text/visible.ts";
import { EXPORT_WORDS } from "../words.ts";
import { AskScreen } from "./ask.tsx";

/** Asks for a file and writes the patch into it. A file that exists is never replaced. */
export function askExport(frame: Frame, source: Source, { row, step }: Chosen): void {
  const save = async (name: string) => {
    if (name === "") throw new Error(EXPORT_WORDS.noName);
    const { patchBase64, files, notInPatch } = await source.call("GET /api/history/:seq/patch", {
      params: { seq: row.ref },
      query: { workspace: source.place.workspace, ...(step && { step: step.seq }) },
    });
    const patch = Buffer.from(patchBase64, "base64");
    if (patch.length === 0) throw new Error(EXPORT_WORDS.nothing);
    const path = resolve(name);
    await writeFile(path, patch, { flag: "wx" }).catch((error: NodeJS.ErrnoException) => {
      throw error.code === "EEXIST" ? new Error(EXPORT_WORDS.exists(visibleLine(path))) : error;
    });
    const said = EXPORT_WORDS.saved(visibleLine(path), count(files, "file"), size(patch.length));
    const left = notInPatch.map((each) => `${visibleLine(each.path)} (${visibleLine(each.reason)})`);
    return left.length === 0 ? said : `${said} ${EXPORT_WORDS.leftOut(left.join(", "))}`;
  };
  const first = step === undefined ? `${row.ref}.patch` : `${row.ref}-${step.seq}.patch`;
  frame.open(
    <AskScreen
      title={EXPORT_WORDS.title}
      about={EXPORT_WORDS.about}
      label={EXPORT_WORDS.label}
      first={first}
      answer={save}
    />,
  );
}
