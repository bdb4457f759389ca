/** Words of the page itself; those of its parts are in @belay/react. */

/** Fixed words of the page. */
export const PAGE = {
  openFromTerminal: "Open this page from a terminal:",
  search: "Search prompts, notes, files",
  noProject: "No project is protected yet.",
  protectOne: "Go to a project’s directory and type:",
  pending: "Pending changes",
  pendingAbout: "what agents changed and you have not approved",
  threads: "Threads",
  noThreads: "No agent has talked here yet.",
  branches: "Branches",
  branchesAbout: "lines of work beside the files here",
  storage: "Storage",
  settings: "Settings",
  settingsAbout: "of all projects; every change is saved at once",
  nowSelected: "The files as they are on disk. Select a row to see what it did.",
  showUnchanged: "Rows that changed nothing are left out or folded; show them",
  hideUnchanged: "Leave out or fold rows that changed nothing",
  emptyProject: "Nothing has happened yet.",
  emptyHow: "Start an agent in this project, or change a file. Every change is captured as it happens.",
} as const;

/** Every key of the page, for the list that `?` opens. */
export const KEYS: readonly (readonly [keys: string, does: string])[] = [
  ["↑ ↓ j k", "rows"],
  ["→ ←", "show and hide the steps of a turn"],
  ["b", "restore to before the selected row…"],
  ["R", "undo only the selected turn…"],
  ["u r", "undo the last step…, redo…"],
  ["Space", "mark for comparison"],
  ["d", "compare the marked states, or the selected one with the disk"],
  ["c", "keep this state: new checkpoint"],
  ["n t m", "note, tags, name"],
  ["v Enter", "details"],
  ["p", "pending changes"],
  ["A X", "there: approve…, reset…"],
  ["/", "search; in a comparison: find in diff"],
  ["a z", "everything; compact"],
  ["g G", "first row, last row"],
  ["j k . ,", "in a comparison: file, hunk"],
  ["s w", "in a comparison: side by side; whitespace"],
  ["f h", "in a comparison: restore this file…, this hunk…"],
  ["Ctrl Enter", "confirm a preview"],
  ["Esc", "back, cancel"],
];
