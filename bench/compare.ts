/** Every peer does the same work on the same files in the same run; medians of several rounds. */
import { join } from "node:path";
import { relative } from "node:path";
import { median, milliseconds } from "./measure.ts";
import { createPeers, type Peer } from "./peers.ts";
import { changeFiles, type Project } from "./project.ts";

export const MEASURES = [
  "first capture",
  "cold capture, 10 changed",
  "cold capture, nothing changed",
  "restore of 10 files",
  "restore of all files",
  "diff of two checkpoints",
  "list",
  "memory of a capture",
  "disk after 1 checkpoint",
  "disk after 50 checkpoints",
  "disk after 200 checkpoints",
] as const;

export type Measure = (typeof MEASURES)[number];
export type Figures = Readonly<Partial<Record<Measure, number>>>;

export interface Comparison {
  readonly workload: string;
  readonly files: number;
  readonly peers: readonly { readonly name: string; readonly figures: Figures }[];
}

export interface CompareOptions {
  readonly against: readonly string[];
  readonly rounds: number;
  /** How many checkpoints to take in the end; the disk use is noted on the way. */
  readonly checkpoints: number;
  said(text: string): void;
}

export function compare(
  place: string,
  workload: string,
  project: Project,
  options: CompareOptions,
): Comparison {
  const peers = createPeers(
    options.against,
    join(place, `peers-${workload.replaceAll(/\W+/g, "-")}`),
    project.root,
  );
  return {
    workload,
    files: project.files.length,
    peers: peers.map((peer) => {
      options.said(`${workload}: ${peer.name}`);
      try {
        return { name: peer.name, figures: measurePeer(peer, project, options) };
      } finally {
        peer.close?.();
      }
    }),
  };
}

function measurePeer(peer: Peer, project: Project, { rounds, checkpoints }: CompareOptions): Figures {
  peer.create();
  let last = "";
  const first = milliseconds(() => (last = peer.capture()));
  const diskAfter1 = peer.bytes();
  peer.started?.();
  const times = Array.from({ length: rounds }, () => {
    const before = last;
    const changed = changeFiles(project, 10).map((file) => relative(project.root, file));
    waitOutFileClock();
    const cold = milliseconds(() => (last = peer.capture()));
    const unchanged = milliseconds(() => (last = peer.capture()));
    const diff = peer.diff === undefined ? undefined : milliseconds(() => peer.diff!(before, last));
    const ten = milliseconds(() => peer.restore(before, changed));
    changeFiles(project, 10);
    waitOutFileClock();
    const all = milliseconds(() => peer.restore(before));
    last = peer.capture();
    return {
      cold,
      unchanged,
      diff,
      ten,
      all,
      list: peer.list === undefined ? undefined : milliseconds(() => peer.list!()),
    };
  });
  const of = (pick: (time: (typeof times)[number]) => number | undefined) => {
    const values = times.map(pick).filter((value) => value !== undefined);
    return values.length === 0 ? undefined : median(values);
  };
  const figures: [Measure, number | undefined][] = [
    ["first capture", first],
    ["cold capture, 10 changed", of(({ cold }) => cold)],
    ["cold capture, nothing changed", of(({ unchanged }) => unchanged)],
    ["restore of 10 files", of(({ ten }) => ten)],
    ["restore of all files", of(({ all }) => all)],
    ["diff of two checkpoints", of(({ diff }) => diff)],
    ["list", of(({ list }) => list)],
    ["memory of a capture", peer.memory?.()],
    ["disk after 1 checkpoint", diskAfter1],
    ...grow(peer, project, checkpoints),
  ];
  return Object.fromEntries(figures.filter(([, value]) => value !== undefined));
}

/** Takes checkpoints of an evolving project. A copy grows by its full size: that need not be tried. */
function grow(peer: Peer, project: Project, checkpoints: number): [Measure, number][] {
  const found: [Measure, number][] = [];
  if (peer.name === "cp -a") return found;
  for (let count = 1; count <= checkpoints; count += 1) {
    changeFiles(project, 10);
    peer.capture();
    if (count === 50 || count === 200) found.push([`disk after ${count} checkpoints`, peer.bytes()]);
  }
  return found;
}

/** Beyond the granularity of file times, so that nothing is racy. */
function waitOutFileClock(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
}
