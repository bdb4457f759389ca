/** The timeline as a program. */
import type { Place } from "./data/connection.ts";
import { runScreens, type ScreenOptions } from "./run-screens.tsx";
import { TimelineScreen } from "./screens/timeline/timeline.tsx";

/** What `belay timeline` was told. */
export interface TimelineOptions extends ScreenOptions {
  /** Only this thread. */
  readonly thread: { readonly id: string; readonly title: string } | undefined;
}

/** Shows the timeline until the user leaves it; the exit code. */
export function runTimeline(place: Place, { thread, ...options }: TimelineOptions): Promise<number> {
  return runScreens(place, <TimelineScreen thread={thread} />, options);
}
