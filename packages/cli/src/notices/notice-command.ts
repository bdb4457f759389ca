/** How each system shows a notice: a program and its words. Names in it are data; none is an option, markup or script. */
import { spawn } from "node:child_process";
import { visibleLine } from "@belay/tui/text";

/** A notice on the user's desktop. */
export interface DesktopNotice {
  readonly title: string;
  readonly text: string;
  readonly isUrgent: boolean;
}

/** A program and its words. */
export interface NoticeCommand {
  readonly program: string;
  readonly words: readonly string[];
}

/** Longer names are cut: a notice has two lines. */
const MOST_CHARACTERS = 200;
/** Without a desktop to show it, `notify-send` waits for one. */
const PATIENCE_MS = 10_000;

/** The script takes its texts as arguments: nothing in them is read as AppleScript. */
const APPLE_SCRIPT = [
  "on run argv",
  "display notification (item 2 of argv) with title (item 1 of argv)",
  "end run",
];

/** Undefined where the system has no program for it. */
export function noticeCommand(notice: DesktopNotice, platform: NodeJS.Platform): NoticeCommand | undefined {
  const [title, text] = [notice.title, notice.text].map((each) =>
    visibleLine(each).slice(0, MOST_CHARACTERS),
  );
  if (platform === "darwin")
    return {
      program: "osascript",
      words: [...APPLE_SCRIPT.flatMap((line) => ["-e", line]), "--", title!, text!],
    };
  if (platform !== "linux") return undefined;
  const urgency = notice.isUrgent ? "critical" : "normal";
  // the text may be markup, the title never is; after -- nothing is an option
  return {
    program: "notify-send",
    words: ["--app-name=Belay", `--urgency=${urgency}`, "--", title!, withoutMarkup(text!)],
  };
}

function withoutMarkup(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

/** Starts the program and forgets it. Where it is missing, or fails, nothing else does. */
export function startProgram({ program, words }: NoticeCommand): void {
  try {
    const child = spawn(program, words, { stdio: "ignore", detached: true, timeout: PATIENCE_MS });
    child.once("error", () => {});
    child.unref();
  } catch {
    // no process can be started now
  }
}
