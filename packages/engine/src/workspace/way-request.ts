/** A way back as data: what a plan was made of, so that another process can make the same plan. */
import { mergeWay, type MergeRequest } from "../merging/merge-way.ts";
import { switchWay, type SwitchRequest } from "../branch/switch-way.ts";
import type { WayBack } from "../restore/go-back.ts";
import { restoreWay, type RestoreRequest } from "../restore/restore-way.ts";
import type { ResetRequest } from "../steps/pending.ts";
import { resetWay } from "../steps/reset-way.ts";
import type { StepRequest } from "../steps/select-steps.ts";
import { stepsWay } from "../steps/steps-way.ts";

/** Everything that describes a way back: enough to take it in another process. */
export type WayRequest =
  | { readonly way: "restore"; readonly request: RestoreRequest }
  | { readonly way: "steps"; readonly request: StepRequest }
  | { readonly way: "switch"; readonly request: SwitchRequest }
  | { readonly way: "merge"; readonly request: MergeRequest }
  | { readonly way: "reset"; readonly request: ResetRequest };

/** The way back that a request of the workspace describes. */
export function wayOf({ way, request }: WayRequest): WayBack {
  switch (way) {
    case "restore":
      return restoreWay(request);
    case "steps":
      return stepsWay(request);
    case "switch":
      return switchWay(request);
    case "merge":
      return mergeWay(request);
    case "reset":
      return resetWay(request);
  }
}
