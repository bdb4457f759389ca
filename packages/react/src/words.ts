/** Every word of the parts, in one place. */

/** Names of agents as people know them. */
const AGENTS: Readonly<Record<string, string>> = {
  "claude-code": "Claude Code",
  codex: "Codex",
  "gemini-cli": "Gemini CLI",
  gemini: "Gemini CLI",
  copilot: "Copilot",
  opencode: "opencode",
  cursor: "Cursor",
  http: "An agent",
};

/** "Claude Code" for `claude-code`; a name that is not known is a stranger's text. */
export function agentName(agent: string | null): string {
  if (agent === null) return "You";
  return (Object.hasOwn(AGENTS, agent) ? AGENTS[agent] : undefined) ?? visible(agent);
}

/** A number with its noun: "1 file", "2 files", "10,211 files". */
export function quantity(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}

const CLOCK = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const SECONDS = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });
const DAY = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long" });
const DATE = new Intl.DateTimeFormat("en-CA", { year: "numeric", month: "2-digit", day: "2-digit" });

/** The time of day: "10:42". */
export function clock(at: string): string {
  return CLOCK.format(new Date(at));
}

/** The time of day to the second: "10:42:03". */
export function clockWithSeconds(at: string): string {
  return SECONDS.format(new Date(at));
}

/** The local day of a time, as `2026-11-17`. */
export function dayOf(at: string | number): string {
  return DATE.format(new Date(at));
}

/** The name of a day: "Today", "Yesterday", "Monday 16 November". */
export function dayName(at: string, now = Date.now()): string {
  const day = dayOf(at);
  if (day === dayOf(now)) return "Today";
  if (day === dayOf(now - 86_400_000)) return "Yesterday";
  return DAY.format(new Date(at));
}

/** A moment in a sentence: "today at 10:42", "yesterday at 10:42". */
export function dayAndClock(at: string): string {
  const name = dayName(at);
  return `${name === "Today" || name === "Yesterday" ? name.toLowerCase() : name} at ${clock(at)}`;
}

/** How long something took: "38 s", "1 min 12 s", "2 h 5 min". */
export function duration(ms: number): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  if (seconds < 3600)
    return seconds % 60 === 0 ? `${seconds / 60} min` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
  return `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;
}

/** How long ago a moment was: "11 minutes ago". */
export function ago(at: string, now = Date.now()): string {
  const minutes = Math.max(0, Math.round((now - Date.parse(at)) / 60_000));
  if (minutes < 1) return "just now";
  if (minutes < 60) return `${quantity(minutes, "minute")} ago`;
  if (minutes < 60 * 24) return `${quantity(Math.round(minutes / 60), "hour")} ago`;
  return `${quantity(Math.round(minutes / 1440), "day")} ago`;
}

/** "+1:17" from the turn's start. */
export function offset(from: string, at: string): string {
  const seconds = Math.max(0, Math.round((Date.parse(at) - Date.parse(from)) / 1000));
  return `+${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, "0")}`;
}

/** A number of bytes: "1.4 GiB". */
export function size(bytes: number): string {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  const power = bytes < 1024 ? 0 : Math.min(4, Math.floor(Math.log2(bytes) / 10));
  const value = bytes / 1024 ** power;
  return `${power === 0 ? value : value < 10 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

/** Where git was at a checkpoint: "main 4f2c1a9, 3 staged". */
export function gitWords(git: {
  readonly branch: string | null;
  readonly commit: string | null;
  readonly stagedTotal: number;
}): string {
  const where = [git.branch, git.commit?.slice(0, 7)].filter(Boolean).join(" ");
  return visible(git.stagedTotal > 0 ? `${where}, ${git.stagedTotal.toLocaleString("en")} staged` : where);
}

/** A title in quotation marks, cut where it is long. */
export function quoted(title: string, longest = 80): string {
  return `“${title.length > longest ? `${title.slice(0, longest - 1)}…` : title}”`;
}

/** A word as shells take it. */
export function shellWord(word: string): string {
  return /^[\w./@+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

const CONTROLS = /(?![\t\n])[\p{Cc}\p{Bidi_Control}\u200b-\u200d\u2028\u2029\u2060-\u2064\ufeff]/gu;

/** Text from agents and files, with control and direction characters shown instead of obeyed. */
export function visible(text: string): string {
  return text.replaceAll(CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const CODE_CONTROLS = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/gu;

/** Lines of files: as `visible`, but ends of lines and joiners, which scripts and pictures need, stay. */
export function visibleCode(text: string): string {
  return text.replaceAll(CODE_CONTROLS, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

const GAPS: Readonly<Record<string, string>> = {
  "too-large": "over the limit",
  limit: "over the limit of a checkpoint",
  unreadable: "not readable",
  special: "not a file with content",
  forgotten: "permanently forgotten",
  withheld: "its owner keeps it at home",
};

/** Why a file was not captured, in words. */
export function gapReason(reason: string): string {
  return GAPS[reason] ?? reason;
}

/** Fixed words of the screens. */
export const WORDS = {
  here: "You are here",
  byHand: "Changed by hand",
  changedNothing: "changed nothing",
  saved: "The present files are saved first, and you can undo this.",
  undoTitle: "Undo all changes from this point onwards",
  offline: "Not connected",
  noCheckpoint: "No checkpoint is like this.",
  same: "These two states are the same.",
  startedAgain: "Belay was started again since this page was opened.",
  noAnswer: "Belay does not answer. `belay start` starts it; your files are as they are.",
  more: (count: number) => `…and ${count.toLocaleString("en")} more`,
  notConnected: (since: number) => `Not connected. What you see is from ${CLOCK.format(new Date(since))}.`,
} as const;
