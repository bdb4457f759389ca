/** Every sentence and label of the screens, in one place. */

/** The titles. */
export const TITLES = { keys: "Keys" } as const;

/** What the help says below its keys. */
export const HELP_SENTENCES = [
  "Everything that changes files shows first what it would do, and asks.",
  "A key means the same on every screen; questions list their own answers.",
  "The mouse is off; --mouse turns on wheel and selecting, never acting.",
] as const;

/** The last line of the help. */
export const HELP_FOOT = "? or Esc closes | belay help tells about the commands";
