/**
 * The states of live capture and every way from one to another.
 *
 *                 loaded             swept
 *        cold ─────────────▶ unproven ─────▶ live
 *         │ ▲                  │  │           │ │
 *         │ └── outdated, ─────┘  └─ scanned ─┘ │
 *         │     eventsLost ◀────────────────────┘
 *         └──────────────── scanned ────────────▶
 *
 * `closed` is reached from every state and left by none.
 */

/**
 * - `cold`: no tree is known; the next capture scans everything
 * - `unproven`: the tree of the last run is known; a sweep still looks for what changed since
 * - `live`: the tree differs from the disk only where the watcher, or a sweep, named a path
 * - `closed`: watching has ended, or there are not enough watches; every capture scans everything
 */
export type LiveState = "cold" | "unproven" | "live" | "closed";

/**
 * - `loaded`: the tree of the last run was read from the stat cache, and all its directories are watched
 * - `swept`: every path was compared with that tree; what differs is named
 * - `scanned`: a full scan was recorded; its tree is the known one
 * - `outdated`: the tree no longer fits (rules, budgets, the store); the watches are good
 * - `eventsLost`: the watcher may have missed something; watches are created again
 * - `closed`: the workspace is closed, or the system has no more watches
 */
export type LiveEvent = "loaded" | "swept" | "scanned" | "outdated" | "eventsLost" | "closed";

const TRANSITIONS: Readonly<Record<LiveState, Readonly<Record<LiveEvent, LiveState>>>> = {
  cold: {
    loaded: "unproven",
    // the tree was given up while the sweep ran
    swept: "cold",
    scanned: "live",
    outdated: "cold",
    eventsLost: "cold",
    closed: "closed",
  },
  unproven: {
    loaded: "unproven",
    swept: "live",
    scanned: "live",
    outdated: "cold",
    eventsLost: "cold",
    closed: "closed",
  },
  live: {
    // a capture was faster than the start of watching, and its tree is newer
    loaded: "live",
    swept: "live",
    scanned: "live",
    outdated: "cold",
    eventsLost: "cold",
    closed: "closed",
  },
  closed: {
    loaded: "closed",
    swept: "closed",
    scanned: "closed",
    outdated: "closed",
    eventsLost: "closed",
    closed: "closed",
  },
};

/** The state of live capture after an event. */
export function nextState(state: LiveState, event: LiveEvent): LiveState {
  return TRANSITIONS[state][event];
}

/** True in the states in which a tree is known. */
export function hasTree(state: LiveState): boolean {
  return state === "unproven" || state === "live";
}

/** True when the tree that comes with an event takes the place of the known one. */
export function takesTree(state: LiveState, event: LiveEvent): boolean {
  return (event === "loaded" && state === "cold") || (event === "scanned" && state !== "closed");
}

/** True when an event makes the watches worthless: they are closed, and made again by the next scan if there is one. */
export function dropsWatches(event: LiveEvent): boolean {
  return event === "eventsLost" || event === "closed";
}
