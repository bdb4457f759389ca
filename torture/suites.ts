/** The suites, in the order in which they run. */
import { corruption } from "./suites/corruption.ts";
import { crash } from "./suites/crash.ts";
import { errors } from "./suites/errors.ts";
import { model } from "./suites/model.ts";
import type { Suite } from "./suite.ts";

export const SUITES: readonly Suite[] = [model, crash, errors, corruption];
