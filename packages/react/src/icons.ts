/** The icons: 16 units, one stroke width, in the colour of the text around them. */

type Shape = readonly [
  tag: "path" | "circle" | "rect" | "ellipse",
  attributes: Readonly<Record<string, string>>,
];

interface Drawing {
  /** undefined: filled */
  readonly stroke?: string;
  readonly shapes: readonly Shape[];
}

/** Every icon by name. */
export const ICONS = {
  undo: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "M6 3.5 3 6.5l3 3" }],
      ["path", { d: "M3 6.500h6.200a3.400 3.400 0 0 1 0 6.800H7" }],
    ],
  },
  redo: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "m10 3.500 3 3-3 3" }],
      ["path", { d: "M13 6.500H6.800a3.400 3.400 0 0 0 0 6.800H9" }],
    ],
  },
  back: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "M2.600 8a5.400 5.400 0 1 0 1.700-3.900" }],
      ["path", { d: "M2.600 2.400v2.900h2.900" }],
      ["path", { d: "M8 5.200V8l2 1.300" }],
    ],
  },
  check: { stroke: "1.7", shapes: [["path", { d: "m3 8.500 3.200 3.200L13 4.800" }]] },
  x: { stroke: "1.5", shapes: [["path", { d: "m4 4 8 8M12 4l-8 8" }]] },
  plus: { stroke: "1.6", shapes: [["path", { d: "M8 3v10M3 8h10" }]] },
  search: {
    stroke: "1.5",
    shapes: [
      ["circle", { cx: "7", cy: "7", r: "4.2" }],
      ["path", { d: "m10.200 10.200 3.300 3.300" }],
    ],
  },
  file: {
    stroke: "1.4",
    shapes: [
      ["path", { d: "M4 2h5l3 3v9H4z" }],
      ["path", { d: "M9 2v3h3" }],
    ],
  },
  folder: { stroke: "1.4", shapes: [["path", { d: "M2 4.500V13h12V6H7.500L6 4H2z" }]] },
  warn: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "M8 2.600 14.400 13.400H1.600z" }],
      ["path", { d: "M8 6.500v3" }],
      ["path", { d: "M8 11.500v.1" }],
    ],
  },
  clock: {
    stroke: "1.5",
    shapes: [
      ["circle", { cx: "8", cy: "8", r: "5.7" }],
      ["path", { d: "M8 4.800V8l2.200 1.400" }],
    ],
  },
  set: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "M2.500 5H8M12.500 5h1M2.500 11h1M7.500 11h6" }],
      ["circle", { cx: "10.2", cy: "5", r: "1.9" }],
      ["circle", { cx: "5.5", cy: "11", r: "1.9" }],
    ],
  },
  disk: {
    stroke: "1.4",
    shapes: [
      ["ellipse", { cx: "8", cy: "4", rx: "5", ry: "1.9" }],
      ["path", { d: "M3 4v8c0 1.050 2.240 1.900 5 1.900s5-.85 5-1.900V4" }],
      ["path", { d: "M3 8c0 1.050 2.240 1.900 5 1.900S13 9.050 13 8" }],
    ],
  },
  chat: { stroke: "1.4", shapes: [["path", { d: "M2.500 3h11v7.800H7.200L4.300 13.200v-2.400H2.500z" }]] },
  flag: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "M4 14V2.800" }],
      ["path", { d: "M4 3h8l-2 2.800 2 2.800H4" }],
    ],
  },
  branch: {
    stroke: "1.4",
    shapes: [
      ["circle", { cx: "4.5", cy: "3.6", r: "1.6" }],
      ["circle", { cx: "4.5", cy: "12.4", r: "1.6" }],
      ["circle", { cx: "11.5", cy: "5", r: "1.6" }],
      ["path", { d: "M4.500 5.200v5.600M11.500 6.600c0 3-7 1.300-7 4.200" }],
    ],
  },
  user: {
    stroke: "1.4",
    shapes: [
      ["circle", { cx: "8", cy: "5.3", r: "2.6" }],
      ["path", { d: "M3 13.600c.5-2.600 2.400-3.900 5-3.900s4.500 1.300 5 3.900" }],
    ],
  },
  more: {
    shapes: [
      ["circle", { cx: "3.5", cy: "8", r: "1.3" }],
      ["circle", { cx: "8", cy: "8", r: "1.3" }],
      ["circle", { cx: "12.5", cy: "8", r: "1.3" }],
    ],
  },
  right: { stroke: "1.6", shapes: [["path", { d: "M6 3.500 10.500 8 6 12.500" }]] },
  down: { stroke: "1.6", shapes: [["path", { d: "M3.500 6 8 10.500 12.500 6" }]] },
  up: { stroke: "1.6", shapes: [["path", { d: "M3.500 10 8 5.500l4.500 4.500" }]] },
  copy: {
    stroke: "1.4",
    shapes: [
      ["rect", { x: "5.5", y: "5.5", width: "8", height: "8", rx: "1.5" }],
      ["path", { d: "M10.500 3.500v-1h-8v8h1" }],
    ],
  },
  split: {
    stroke: "1.4",
    shapes: [
      ["rect", { x: "2", y: "3", width: "12", height: "10", rx: "1.5" }],
      ["path", { d: "M8 3v10" }],
    ],
  },
  unified: {
    stroke: "1.4",
    shapes: [
      ["rect", { x: "2", y: "3", width: "12", height: "10", rx: "1.5" }],
      ["path", { d: "M5 6.500h6M5 9.500h4" }],
    ],
  },
  trash: {
    stroke: "1.4",
    shapes: [["path", { d: "M2.500 4.500h11M6 4.500v-2h4v2M4 4.500l.6 9h6.800l.6-9" }]],
  },
  shield: {
    stroke: "1.4",
    shapes: [
      ["path", { d: "M8 2 13 3.800V8c0 3-2.100 5.100-5 6-2.900-.9-5-3-5-6V3.800z" }],
      ["path", { d: "m5.800 8 1.600 1.600 2.900-3" }],
    ],
  },
  list: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "M7 4h7M7 8h7M7 12h7M3 2v12" }],
      ["circle", { cx: "3", cy: "4", r: "1.2", fill: "currentColor" }],
      ["circle", { cx: "3", cy: "8", r: "1.2", fill: "currentColor" }],
      ["circle", { cx: "3", cy: "12", r: "1.2", fill: "currentColor" }],
    ],
  },
  inbox: {
    stroke: "1.4",
    shapes: [
      ["path", { d: "M2.500 9.500 4.300 3h7.400l1.800 6.500V13h-11z" }],
      ["path", { d: "M2.500 9.500h3.200l.9 1.700h2.800l.9-1.700h3.200" }],
    ],
  },
  term: { stroke: "1.5", shapes: [["path", { d: "M3 4.500 6.500 8 3 11.500M8.500 12H13" }]] },
  edit: { stroke: "1.4", shapes: [["path", { d: "M2.800 13.200 3.600 10l7-7L13 5.400l-7 7z" }]] },
  tag: {
    stroke: "1.4",
    shapes: [
      ["path", { d: "M2.500 2.500h5.300l5.700 5.700-5.300 5.300-5.700-5.700z" }],
      ["circle", { cx: "5.5", cy: "5.5", r: "0.8", fill: "currentColor" }],
    ],
  },
  pic: {
    stroke: "1.4",
    shapes: [
      ["rect", { x: "2", y: "3", width: "12", height: "10", rx: "1.5" }],
      ["path", { d: "m2.500 11.500 3.500-3 2.500 2 2.500-2.500 2.800 2.800" }],
      ["circle", { cx: "6", cy: "6", r: "1" }],
    ],
  },
  bell: {
    stroke: "1.4",
    shapes: [
      ["path", { d: "M4 11.500V7a4 4 0 0 1 8 0v4.500l1 1H3z" }],
      ["path", { d: "M6.800 14h2.400" }],
    ],
  },
  compare: {
    stroke: "1.5",
    shapes: [
      ["path", { d: "M5 2.500 2.500 5 5 7.500M2.500 5h9M11 8.500l2.500 2.500-2.500 2.500M13.500 11h-9" }],
    ],
  },
  space: { stroke: "1.5", shapes: [["path", { d: "M2.500 6v4h11V6" }]] },
} as const satisfies Record<string, Drawing>;

/** The name of an icon. */
export type IconName = keyof typeof ICONS;
