/** How much colour a terminal gets. */

/** `none` keeps bold, underlined and dim: they are not colours; `plain` drops these too. */
export type ColourDepth = "plain" | "none" | "few" | "many";

/** What a terminal shows: NO_COLOR (https://no-color.org) and `--no-color` drop the colours. */
export function colourDepthOf(environment: NodeJS.ProcessEnv, wanted: boolean): ColourDepth {
  const { TERM = "", COLORTERM, NO_COLOR } = environment;
  if (TERM === "dumb" || TERM === "") return "plain";
  if (!wanted || NO_COLOR) return "none";
  return COLORTERM || /256|direct|kitty|ghostty|alacritty/.test(TERM) ? "many" : "few";
}
