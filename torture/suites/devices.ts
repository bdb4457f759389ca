/** A thousand devices in one space for eight days, the real protocol in virtual time; what the server was asked is printed. */
import { createSeededRandom } from "../../packages/engine/test/support/seeded-random.ts";
import {
  simulateDevices,
  type Asked,
  type DevicesReport,
} from "../../packages/remote/test/simulation/devices.ts";
import type { Suite } from "../suite.ts";

const DAYS = 8;

export const devices: Suite = {
  name: "devices",
  unit: "devices",
  goal: 1_000,
  short: 12,
  async round(round) {
    const number = Math.min(round.left, 1_000);
    const report = await simulateDevices(createSeededRandom(round.random.seed), {
      devices: number,
      days: DAYS,
    });
    console.error(described(report));
    round.count("without a loss", number);
  },
};

function described(report: DevicesReport): string {
  const { devices: number, days, checkpoints, objects, bytes } = report;
  const works = (["pushes", "bases", "sweeps", "clones"] as const).map(
    (name) => `${report[name].count} ${name}, each ${perOne(report[name])}`,
  );
  return [
    `${number} devices, ${days} days; at the end ${checkpoints} checkpoints read, ${objects} objects, ${bytes} bytes`,
    ...works,
  ].join("\n");
}

function perOne({ count, ...asked }: Asked): string {
  return Object.entries(asked)
    .map(([name, sum]) => `${name} ${(sum / Math.max(count, 1)).toFixed(2)}`)
    .join(", ");
}
