/** The settings in words: what each does, and what it can be. */

/** A setting that the page knows. */
export interface KnownSetting {
  readonly key: string;
  readonly words: string;
  readonly about: string;
  /** undefined: free text, such as 64MiB */
  readonly choices?: readonly (readonly [value: string, words: string, about?: string])[];
}

/** All of them, in groups. */
export const SETTINGS: readonly { readonly words: string; readonly settings: readonly KnownSetting[] }[] = [
  {
    words: "Triggers",
    settings: [
      {
        key: "checkpoints.automatic",
        words: "Automatic checkpoints",
        about: "Off: only those that you make, and the safety checkpoint before Belay changes files.",
        choices: [
          ["on", "On"],
          ["off", "Off"],
        ],
      },
      {
        key: "checkpoints.policy",
        words: "What causes them",
        about:
          "Everything: before each prompt, before and after each tool that changes files, before each agent, at the end of a turn.",
        choices: [
          ["everything", "Everything"],
          ["message", "Prompts"],
          ["tool", "Tools"],
          ["agent", "Agents"],
        ],
      },
      {
        key: "checkpoints.timerMinutes",
        words: "On a timer",
        about:
          "Also this many minutes after the newest one, if something changed and no agent is at work. 0 turns it off.",
      },
    ],
  },
  {
    words: "Retention",
    settings: [
      {
        key: "retention.policy",
        words: "How long checkpoints stay",
        about: "Which checkpoints are dropped as they get old.",
        choices: [
          ["default", "Default", "Everything for 7 days, turns for 30."],
          ["mimir", "One day", "24 hours, and always the last 5 of a thread (mimir)."],
          ["moldable", "Last 50", "50 a thread, for 7 days; files up to 10 MB (moldable)."],
          ["supervisor", "50 of yours", "Like default, at most 50 made by hand a thread (supervisor)."],
          ["code-buddy", "Last 100", "100 a thread, for 30 days (code-buddy)."],
        ],
      },
      {
        key: "disk.capBytes",
        words: "At most",
        about: "The store of one project never grows beyond this. Bytes, or for example 10GiB.",
      },
    ],
  },
  {
    words: "Limits",
    settings: [
      {
        key: "limits.fileBytes",
        words: "Largest file",
        about: "Larger files are not captured; a restore leaves them as they are.",
      },
      {
        key: "limits.checkpointBytes",
        words: "Largest checkpoint",
        about: "At most this many new bytes in one checkpoint.",
      },
    ],
  },
  {
    words: "Notices",
    settings: [
      {
        key: "notices.desktop",
        words: "Notices on the desktop",
        about:
          "Of this machine, also where no page is open: a capture that failed or came late, a turn that ended.",
        choices: [
          ["off", "Off"],
          ["on", "On"],
        ],
      },
    ],
  },
  {
    words: "The page’s address",
    settings: [
      {
        key: "ui.port",
        words: "Port",
        about: "0 takes the last one, or a free one. Applies to the next start of the process.",
      },
    ],
  },
];
