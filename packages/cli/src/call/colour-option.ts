/** The value of `--color`. */
import { usageError } from "@belay/protocol/errors";
import { COLOUR_CHOICES, type ColourChoice } from "../output/style.ts";

/** Undefined when it was not given; throws on anything but the three choices. */
export function colourChoice(given: string | undefined): ColourChoice | undefined {
  const choice = COLOUR_CHOICES.find((each) => each === given);
  if (given !== undefined && choice === undefined)
    throw usageError(`--color takes auto, always or never, not "${given}".`, "For example: --color=always");
  return choice;
}
