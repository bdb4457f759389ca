/** Sizes, counts and durations in words. */
const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A number of bytes: 812 B, 9.1 KiB, 64 MiB */
export function size(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < SIZE_UNITS.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const digits = unit > 0 && value < 10 ? value.toFixed(1).replace(/\.0$/, "") : String(Math.round(value));
  return `${digits} ${SIZE_UNITS[unit]}`;
}

/** 1 file, 3 files, 12,000 files */
export function count(number: number, noun: string, plural: string = `${noun}s`): string {
  return `${grouped(number)} ${number === 1 ? noun : plural}`;
}

/** 12,000. `toLocaleString` gives the same but takes 20 ms to load. */
export function grouped(number: number): string {
  return String(number).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

/** How long something took: 4.1 ms, 230 ms, 1.4 s */
export function duration(milliseconds: number): string {
  if (milliseconds >= 1000) return `${(milliseconds / 1000).toFixed(1)} s`;
  return `${milliseconds < 10 ? milliseconds.toFixed(1) : Math.round(milliseconds)} ms`;
}
