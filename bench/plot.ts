/** How a measure grows with the number of files, one line a peer, both axes logarithmic, as SVG. */
import type { Comparison, Measure } from "./compare.ts";

const SIZE = { width: 720, height: 400, left: 64, right: 220, top: 40, bottom: 44 };
const COLOURS = ["#0f766e", "#b45309", "#be185d", "#4338ca", "#57534e", "#0369a1", "#4d7c0f"];

export function plot(measure: Measure, comparisons: readonly Comparison[]): string {
  const names = [...new Set(comparisons.flatMap(({ peers }) => peers.map(({ name }) => name)))];
  const lines = names
    .map((name) => ({
      name,
      points: comparisons.flatMap(({ files, peers }) => {
        const value = peers.find((peer) => peer.name === name)?.figures[measure];
        return value === undefined ? [] : [{ files, value }];
      }),
    }))
    .filter(({ points }) => points.length > 0);
  const all = lines.flatMap(({ points }) => points);
  const x = axis(
    all.map(({ files }) => files),
    SIZE.left,
    SIZE.width - SIZE.right,
  );
  const y = axis(
    all.map(({ value }) => value),
    SIZE.height - SIZE.bottom,
    SIZE.top,
  );
  const drawn = lines.map(({ name, points }, index) => {
    const colour = COLOURS[index % COLOURS.length]!;
    const path = points
      .map(({ files, value }, at) => `${at === 0 ? "M" : "L"}${x.at(files)} ${y.at(value)}`)
      .join(" ");
    const dots = points.map(
      ({ files, value }) => `<circle cx="${x.at(files)}" cy="${y.at(value)}" r="3" fill="${colour}"/>`,
    );
    const labelAt = SIZE.top + 12 + index * 20;
    return [
      `<path d="${path}" fill="none" stroke="${colour}" stroke-width="2"/>`,
      ...dots,
      `<text x="${SIZE.width - SIZE.right + 16}" y="${labelAt}" fill="${colour}">${escape(name)}</text>`,
    ].join("");
  });
  const ticks = [
    ...x.ticks.map(
      (value) =>
        `<text x="${x.at(value)}" y="${SIZE.height - SIZE.bottom + 20}" text-anchor="middle" fill="#6b7280">${short(value)}</text>`,
    ),
    ...y.ticks.map(
      (value) =>
        `<path d="M${SIZE.left} ${y.at(value)}H${SIZE.width - SIZE.right}" stroke="#9ca3af" stroke-opacity=".35"/>` +
        `<text x="${SIZE.left - 8}" y="${y.at(value) + 4}" text-anchor="end" fill="#6b7280">${unit(measure, value)}</text>`,
    ),
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.width} ${SIZE.height}" font-family="system-ui, sans-serif" font-size="12"><text x="${SIZE.left}" y="22" font-size="14" fill="#6b7280">${escape(measure)}, by number of files</text>${ticks.join("")}${drawn.join("")}</svg>\n`;
}

function axis(values: readonly number[], from: number, to: number) {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const at = (value: number) => Math.round(from + ((Math.log10(value) - low) / (high - low)) * (to - from));
  return { at, ticks: Array.from({ length: high - low + 1 }, (_, index) => 10 ** (low + index)) };
}

function short(value: number): string {
  return value >= 1000 ? `${value / 1000}k` : String(value);
}

function unit(measure: Measure, value: number): string {
  if (/disk|memory/.test(measure))
    return `${value / 2 ** 20 >= 1 ? Math.round(value / 2 ** 20) : (value / 2 ** 20).toFixed(1)} MiB`;
  return value >= 1000 ? `${value / 1000} s` : `${value} ms`;
}

function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
