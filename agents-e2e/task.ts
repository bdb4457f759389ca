/** What the model is asked to do: every way in which files change, by edit tools and by the shell. */
import type { Step } from "./client.ts";

export const PROMPT = "Please rearrange the project.";

export const FILES: Readonly<Record<string, string>> = {
  ".gitignore": ".env*\nlogs/\n",
  ".env": "TOKEN=one\n",
  "README.md": "# Example\n",
  "run.sh": "#!/bin/sh\necho run\n",
  "src/main.txt": "first\nsecond\nthird\n",
  "src/old.txt": "old\n",
  "docs/guide.txt": "moved\n",
  "assets/a.bin": "\u0000\u0001binary\u0000",
};

export const STEPS: readonly Step[] = [
  { does: "read", path: "src/main.txt" },
  { does: "edit", path: "src/main.txt", from: "second", to: "changed" },
  { does: "write", path: "src/new/file.txt", content: "new\n" },
  { does: "read", path: ".env" },
  { does: "edit", path: ".env", from: "TOKEN=one", to: "TOKEN=two" },
  { does: "write", path: "logs/today.txt", content: "ignored, and named by a tool\n" },
  { does: "delete", path: "src/old.txt" },
  { does: "move", path: "docs/guide.txt", to: "docs/manual.txt" },
  {
    does: "shell",
    command: [
      "echo fourth >> src/main.txt",
      "echo LOCAL=1 > .env.local",
      "mkdir -p deep/er && echo deep > deep/er/file.txt",
      "rm README.md",
      "mv assets pictures",
      "chmod 755 run.sh",
      "ln -s src/main.txt link",
    ].join(" && "),
  },
];

/** What the project is afterwards; null: not there. */
export const RESULT: Readonly<Record<string, string | null>> = {
  ".env": "TOKEN=two\n",
  ".env.local": "LOCAL=1\n",
  "README.md": null,
  "src/main.txt": "first\nchanged\nthird\nfourth\n",
  "src/new/file.txt": "new\n",
  "src/old.txt": null,
  "logs/today.txt": "ignored, and named by a tool\n",
  "docs/guide.txt": null,
  "docs/manual.txt": "moved\n",
  "assets/a.bin": null,
  "pictures/a.bin": "\u0000\u0001binary\u0000",
  "deep/er/file.txt": "deep\n",
  link: "first\nchanged\nthird\nfourth\n",
};

export const SECOND_PROMPT = "Please go on with it.";
export const SECOND_STEPS: readonly Step[] = [{ does: "write", path: "again.txt", content: "again\n" }];

/** It never comes to its end. */
export const LONG_PROMPT = "Please do something long.";
export const LONG_STEPS: readonly Step[] = [
  { does: "shell", command: "rm README.md && echo started > started.txt && exec sleep 20" },
];

/** What another conversation is asked for meanwhile. */
export const OTHER_PROMPT = "Please do something else.";
export const OTHER_STEPS: readonly Step[] = [
  { does: "write", path: "other.txt", content: "other\n" },
  { does: "shell", command: "echo more > more.txt" },
];

/** The model then thinks forever. */
export const STALLED_PROMPT = "Please think about it.";
export const STALLED_STEPS: readonly Step[] = [
  { does: "shell", command: "rm README.md && echo started > started.txt" },
];
