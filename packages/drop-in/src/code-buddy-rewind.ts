/** Code Buddy's rewind modes, over Belay. */
export {
  RewindManager,
  type RewindMode,
  type RewindPoint,
  type RewindResult,
} from "./code-buddy/rewind-points.ts";
