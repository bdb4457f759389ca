/** One scene of the tour: a line of explanation and one real command. */
export interface Scene {
  readonly say: string;
  readonly command: readonly string[];
}

/** The scenes in order. */
export const SCENES: readonly Scene[] = [
  { say: "Protect a project. The checkpoints live outside of it.", command: ["init", "--no-agents"] },
  { say: "Let an agent work, as one step.", command: ["run", "--", "../agent", "add a farewell"] },
  {
    say: "Now it tidies up. With a shell, where no edit tool is watching.",
    command: ["run", "--", "../agent", "tidy up"],
  },
  { say: "Everything is in the list.", command: ["list"] },
  { say: "What did that last step do?", command: ["diff", "@-1", "@", "--stat"] },
  { say: "Not what we wanted. One undo brings all of it back.", command: ["undo", "--yes"] },
  { say: "An undo can be taken back as well.", command: ["redo", "--yes"] },
  { say: "Or go back to any point: the beginning.", command: ["restore", "1", "--yes"] },
  { say: "Only one file of an earlier state, by its number.", command: ["restore", "3", "src/farewell.js"] },
  { say: "Nothing is ever dropped by going back. Is the store sound?", command: ["verify", "--full"] },
];
