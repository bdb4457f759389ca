/** `belay remote verify`: proves what a remote holds. */
import type { Workspace } from "@belay/engine";
import type { VerifiedRemote } from "@belay/remote";
import { EXIT, usageError } from "@belay/protocol/errors";
import { count, size } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import type { Output } from "../output/output.ts";
import { createProgressBar } from "../output/progress-bar.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";

type VerifyCall = Pick<Call, "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: { readonly sample?: string; readonly full?: boolean; readonly repair?: boolean };
};

/** Verifies a remote; exit 5 when something is wrong and was not repaired. */
export async function verifyRemote(call: VerifyCall, workspace: Workspace): Promise<number> {
  const share = shareOf(call);
  const { openRemote } = await import("@belay/remote");
  using remote = openRemote(workspace, call.operands[0], await createRemoteHost(call));
  const report = await withBar(call, (progress) =>
    remote.verify({ share, repair: call.options.repair === true, progress }),
  );
  if (call.json) call.output.json(report);
  else call.output.print(verifiedText(report, call.output));
  return report.ok ? EXIT.done : EXIT.damaged;
}

async function withBar(
  call: VerifyCall,
  work: (progress: (done: number, total: number) => void) => Promise<VerifiedRemote>,
): Promise<VerifiedRemote> {
  using bar = createProgressBar("Verifying", "parcel", !call.json && !call.output.quiet);
  return await work((done, total) => bar.update({ done, total }));
}

function shareOf({ options }: VerifyCall): number {
  if (options.full === true && options.sample !== undefined)
    throw usageError("--full and --sample cannot be combined.", "Use one of them.");
  if (options.sample === undefined) return options.full === true ? 1 : 0;
  const [, percent] = /^(\d+(?:\.\d+)?)%$/.exec(options.sample) ?? [];
  if (percent === undefined || Number(percent) > 100)
    throw usageError(`"${options.sample}" is not a share.`, "For example: --sample 5%.");
  return Number(percent) / 100;
}

function verifiedText(
  { ok, lines, segments, parcels, bytesRead, problems }: VerifiedRemote,
  output: Output,
): string {
  const { style } = output;
  const sum = `${count(lines, "line")}, ${count(segments, "segment")}, ${count(parcels, "parcel")}, ${size(bytesRead)} read`;
  if (problems.length === 0) return `${style.green("✓")} The remote is sound: ${sum}.`;
  return [
    `${ok ? style.green("✓") : style.red("✗")} The remote ${ok ? "was" : "is"} damaged: ${count(problems.length, "problem")} in ${sum}.`,
    ...problems.map(({ kind, key, checkpoints, repaired }) => {
      const affects = checkpoints.length === 0 ? "" : `\n    affects ${checkpoints.join(", ")}`;
      return `  ${repaired ? style.green("repaired") : style.red(kind)}  ${key}${affects}`;
    }),
  ].join("\n");
}
