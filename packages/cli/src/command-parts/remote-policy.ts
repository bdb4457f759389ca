/** `belay remote policy`: how long the lines of a space keep checkpoints, and how much it may hold. */
import type { Workspace } from "@belay/engine";
import type { Policy, SpaceUsage } from "@belay/remote";
import { EXIT, usageError } from "@belay/protocol/errors";
import { size } from "@belay/tui/text";
import type { Call } from "../call/command.ts";
import { parseDuration } from "../call/duration.ts";
import { visible } from "../output/visible.ts";
import { createRemoteHost } from "../wiring/remote-host.ts";

type PolicyCall = Pick<Call, "environment" | "home" | "json" | "operands" | "output"> & {
  readonly options: {
    readonly keep?: string;
    readonly "keep-turns"?: string;
    readonly quota?: string;
    readonly "member-quota"?: string;
  };
};

const DAY_MS = 86_400_000;
/** From here on it is said that a quota will be reached. */
const NEARLY = 0.8;

/** Shows or changes the policy of a space. */
export async function remotePolicy(call: PolicyCall, workspace: Workspace): Promise<number> {
  const { openMembers } = await import("@belay/remote");
  const wanted = wantedPolicy(call);
  const members = openMembers(workspace, call.operands[0], await createRemoteHost(call));
  if (Object.keys(wanted).length > 0) await members.setPolicy(wanted);
  const { policy, usage } = await members.policy();
  const warnings = quotaWarnings(policy, usage);
  if (call.json) call.output.json({ remote: members.entry.name, policy, usage, warnings });
  else {
    call.output.print(policyText(policy, usage));
    for (const warning of warnings) call.output.warn(warning);
  }
  return EXIT.done;
}

function wantedPolicy({ options }: PolicyCall): Partial<Policy> {
  const days = (text: string | undefined) =>
    text === undefined ? undefined : Math.max(1, Math.round(parseDuration(text) / DAY_MS));
  const [allDays, turnDays] = [days(options.keep), days(options["keep-turns"])];
  const [quotaBytes, memberQuotaBytes] = [bytesOf(options.quota), bytesOf(options["member-quota"])];
  return {
    ...(allDays !== undefined && { allDays }),
    ...(turnDays !== undefined && { turnDays }),
    ...(quotaBytes !== undefined && { quotaBytes }),
    ...(memberQuotaBytes !== undefined && { memberQuotaBytes }),
  };
}

const UNITS: Readonly<Record<string, number>> = { M: 1024 ** 2, G: 1024 ** 3, T: 1024 ** 4 };

function bytesOf(text: string | undefined): number | null | undefined {
  if (text === undefined) return undefined;
  if (text === "none") return null;
  const [, number, unit = ""] = /^(\d+)([MGT])$/.exec(text) ?? [];
  if (number === undefined || Number(number) === 0)
    throw usageError(`"${text}" is not a size. Nothing was changed.`, "For example: 500M, 20G or none.");
  return Number(number) * UNITS[unit]!;
}

function policyText({ allDays, turnDays, quotaBytes, memberQuotaBytes }: Policy, usage: SpaceUsage): string {
  const limit = (bytes: number | null) => (bytes === null ? "no quota" : `quota ${size(bytes)}`);
  return [
    `Lines keep everything for ${allDays} days, turns and messages for ${turnDays}; what is named, tagged or manual stays.`,
    `The space holds ${size(usage.bytes)} (${limit(quotaBytes)}; for each member ${limit(memberQuotaBytes)}).`,
    ...usage.members.map(({ name, bytes }) => `  ${visible(name)}  ${size(bytes)}`),
  ].join("\n");
}

/** [R1816] Quotas are told before they are reached. */
function quotaWarnings({ quotaBytes, memberQuotaBytes }: Policy, usage: SpaceUsage): string[] {
  const told = (who: string, bytes: number, quota: number | null) =>
    quota === null || bytes < quota * NEARLY
      ? []
      : [
          `${who} ${bytes >= quota ? "is over its quota" : "has nearly reached its quota"}: ${size(bytes)} of ${size(quota)}.`,
        ];
  return [
    ...told("The space", usage.bytes, quotaBytes),
    ...usage.members.flatMap(({ name, bytes }) => told(visible(name), bytes, memberQuotaBytes)),
  ];
}
