/** Colours lines away from the page's own thread. */
export * from "@pierre/diffs/worker/worker.js";
