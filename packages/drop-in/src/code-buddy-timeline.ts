/** Code Buddy's timeline of a session, over Belay. */
export { SessionTimeline, type TimelineEntry } from "./code-buddy/session-timeline.ts";
