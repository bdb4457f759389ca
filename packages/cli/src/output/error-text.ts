/** An error for people: what happened, what it concerns, what to do. */
import type { ErrorReport } from "@belay/protocol/errors";
import type { Style } from "./style.ts";
import { visible } from "./visible.ts";

const LISTED = 20;

/** An error in words. */
export function errorText(report: ErrorReport, style: Style): string {
  const lines = [`${style.bold(style.red("belay:"))} ${visible(report.message)}`];
  for (const item of report.list.slice(0, LISTED)) lines.push(`  ${visible(item)}`);
  if (report.list.length > LISTED) lines.push(`  … and ${report.list.length - LISTED} more`);
  if (report.hint !== "") lines.push(`${style.dim("→")} ${visible(report.hint)}`);
  return lines.join("\n");
}
