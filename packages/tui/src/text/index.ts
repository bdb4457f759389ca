/** Text on a terminal: widths, line breaks, numbers, times, and foreign text made safe. It loads nothing else. */
export { clusters, cutToWidth, displayWidth, padToWidth } from "./display-width.ts";
export { count, duration, grouped, size } from "./quantity.ts";
export { conflictWords, gapWords, REASONS, reasonWords, type CaptureLimits } from "./reasons.ts";
export { clockTime, dayAndTime, relativeTime } from "./relative-time.ts";
export { spelledOut, visibleLine, visibleLines } from "./visible.ts";
export { fitLine, fitLines, pieces, wrap } from "./wrap.ts";
