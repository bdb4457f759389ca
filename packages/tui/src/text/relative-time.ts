/** How long ago something was, in words short enough for a column. */
const UNITS = [
  { below: 60, seconds: 1, one: "s", many: "s" },
  { below: 3600, seconds: 60, one: "min", many: "min" },
  { below: 86_400, seconds: 3600, one: "h", many: "h" },
  { below: 14 * 86_400, seconds: 86_400, one: "day", many: "days" },
  { below: 60 * 86_400, seconds: 7 * 86_400, one: "week", many: "weeks" },
] as const;

/** How long ago a moment was, for example "3 min ago". */
export function relativeTime(then: number, now: number = Date.now()): string {
  const seconds = Math.floor((now - then) / 1000);
  // a clock that was set back must not make yesterday's work look fresh
  if (seconds < -60) return dayAndTime(then);
  if (seconds < 5) return "just now";
  for (const unit of UNITS) {
    if (seconds >= unit.below) continue;
    const count = Math.floor(seconds / unit.seconds);
    return `${count} ${count === 1 ? unit.one : unit.many} ago`;
  }
  return dayAndTime(then).slice(0, 10);
}

/** The local day and time: 2026-01-31 14:05. */
export function dayAndTime(then: number): string {
  const date = new Date(then);
  const local = new Date(then - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 16).replace("T", " ");
}

/** The local time: 14:05; with its day when that is not today. */
export function clockTime(moment: number, now: number = Date.now()): string {
  const [text, today] = [dayAndTime(moment), dayAndTime(now)];
  return text.slice(0, 10) === today.slice(0, 10) ? text.slice(11) : text;
}

/** The local time: 14:05; `yesterday 14:05`, and with the day before that. */
export function nearTime(moment: number, now: number): string {
  const text = dayAndTime(moment);
  return text.slice(0, 10) === dayOf(now - DAY_MS) ? `yesterday ${text.slice(11)}` : clockTime(moment, now);
}

const DAY_MS = 86_400_000;

/** The local day: 2026-01-31. */
export function dayOf(moment: string | number): string {
  return dayAndTime(new Date(moment).getTime()).slice(0, 10);
}

/** The local time with seconds: 14:05:31. */
export function clockSeconds(moment: string | number): string {
  const date = new Date(moment);
  const parts = [date.getHours(), date.getMinutes(), date.getSeconds()];
  return parts.map((part) => String(part).padStart(2, "0")).join(":");
}
