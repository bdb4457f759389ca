/** Times as people write them: `10m`, `1h30m`, `14:30`, `yesterday`, `2026-11-01`, `yesterday 14:30`. */
import type { LocalTime, System } from "../model/system.ts";

/** The clock and the time zone that a time is read in. */
export type Clock = Pick<System, "now" | "toLocal" | "fromLocal">;

/** A moment, or a day from its beginning to its end. In milliseconds since 1970; `until` is not part of a day. */
export interface TimeSpan {
  readonly from: number;
  readonly until: number;
}

/** How times are written, for messages. */
export const TIME_FORMS = "10m, 2h, 3d, 14:30, yesterday, 2026-11-01, “yesterday 14:30”";

/** The moment or the day that a text means; undefined when it means none. */
export function parseTime(text: string, clock: Clock): TimeSpan | undefined {
  const words = text.trim().toLowerCase();
  const ago = parseAgo(words);
  if (ago !== undefined) return at(clock.now() - ago);
  const [, date, time] = /^(.*?)(?:(?:^|[ t])(\d{1,2}:\d\d(?::\d\d)?))?$/.exec(words) ?? [];
  const ofDay = time === undefined ? undefined : parseClock(time);
  if (time !== undefined && ofDay === undefined) return undefined;
  const day = date === "" || date === undefined ? undefined : parseDay(date, clock);
  if (date !== "" && day === undefined) return undefined;
  if (ofDay === undefined) return day && { from: clock.fromLocal(day), until: clock.fromLocal(nextDay(day)) };
  if (day !== undefined) return at(clock.fromLocal({ ...day, ...ofDay }));
  const today = { ...clock.toLocal(clock.now()), ...ofDay };
  const moment = clock.fromLocal(today);
  // a time of day that is still to come means yesterday's
  return at(moment <= clock.now() ? moment : clock.fromLocal({ ...today, day: today.day - 1 }));
}

function at(moment: number): TimeSpan {
  return { from: moment, until: moment };
}

const UNIT_MS: Readonly<Record<string, number>> = {
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

function parseAgo(text: string): number | undefined {
  if (!/^(?:\d{1,6}[smhdw])+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([smhdw])/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * UNIT_MS[unit!]!,
    0,
  );
}

function parseClock(text: string): Pick<LocalTime, "hour" | "minute" | "second"> | undefined {
  const [hour = 0, minute = 0, second = 0] = text.split(":").map(Number);
  return hour < 24 && minute < 60 && second < 60 ? { hour, minute, second } : undefined;
}

const MIDNIGHT = { hour: 0, minute: 0, second: 0 };

/** The beginning of a day. */
function parseDay(text: string, clock: Clock): LocalTime | undefined {
  const today = { ...clock.toLocal(clock.now()), ...MIDNIGHT };
  if (text === "today") return today;
  if (text === "yesterday") return { ...today, day: today.day - 1 };
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)?.map(Number) ?? [];
  if (year === undefined || month === undefined || day === undefined) return undefined;
  const read = { year, month, day, ...MIDNIGHT };
  // 2026-02-30 is not a day
  return clock.toLocal(clock.fromLocal(read)).day === day ? read : undefined;
}

function nextDay(day: LocalTime): LocalTime {
  return { ...day, day: day.day + 1 };
}
