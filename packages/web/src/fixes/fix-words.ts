/** Words about loops of fixes. */
import { visible, type Fix } from "@belay/react";

/** Why a fix loop was given up: "Max retries (1) reached for high issues". */
export function reasonOf({ reason, attempts }: Fix): string {
  return reason === null ? `failed after ${attempts.length} attempts` : visible(reason);
}
