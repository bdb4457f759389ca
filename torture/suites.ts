/** The suites, in the order in which they run. */
import { copies } from "./suites/copies.ts";
import { corruption } from "./suites/corruption.ts";
import { crash } from "./suites/crash.ts";
import { databases } from "./suites/databases.ts";
import { detection } from "./suites/detection.ts";
import { devices } from "./suites/devices.ts";
import { errors } from "./suites/errors.ts";
import { forks } from "./suites/forks.ts";
import { full } from "./suites/full.ts";
import { incidents } from "./suites/incidents.ts";
import { killed } from "./suites/killed.ts";
import { merges } from "./suites/merges.ts";
import { model } from "./suites/model.ts";
import { narrow } from "./suites/narrow.ts";
import { network } from "./suites/network.ts";
import { order } from "./suites/order.ts";
import { paths } from "./suites/paths.ts";
import { power } from "./suites/power.ts";
import { settings } from "./suites/settings.ts";
import { soak } from "./suites/soak.ts";
import { sync } from "./suites/sync.ts";
import { writers } from "./suites/writers.ts";
import { zombie } from "./suites/zombie.ts";
import type { Suite } from "./suite.ts";

export const SUITES: readonly Suite[] = [
  model,
  copies,
  forks,
  crash,
  errors,
  corruption,
  power,
  detection,
  databases,
  paths,
  order,
  narrow,
  soak,
  zombie,
  writers,
  full,
  settings,
  merges,
  sync,
  devices,
  network,
  killed,
  incidents,
];
