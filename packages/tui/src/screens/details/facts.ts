/** The facts of a row, two in a line where they fit. */
import { line, span, type Line } from "../../frame/line.ts";
import type { Signs } from "../../terminal/signs.ts";
import { displayWidth, padToWidth } from "../../text/display-width.ts";
import { count, grouped, size } from "../../text/quantity.ts";
import { clockSeconds, dayOf } from "../../text/relative-time.ts";
import { visibleLine } from "../../text/visible.ts";
import { pieces } from "../../text/wrap.ts";
import { DETAIL_WORDS, ROW_WORDS } from "../../words.ts";
import type { Details } from "./use-details.ts";

interface Fact {
  readonly label: string;
  readonly text: string;
}

const LABEL = 11;
const SECOND = 43;
const SECOND_LABEL = 4;
const DAY_MS = 86_400_000;

/** The lines of the facts of a row. */
export function factLines(
  details: Details,
  { width, clock }: { readonly width: number; readonly signs: Signs; readonly clock: number },
): Line[] {
  const { row, step, checkpoint, newBytes } = details;
  const { at } = step ?? row;
  const { labels } = DETAIL_WORDS;
  const pairs: [Fact | undefined, Fact | undefined][] = [
    [
      {
        label: labels.taken,
        text: `${dayText(at, clock)} ${clockSeconds(at)}${step === undefined ? DETAIL_WORDS.moment(row.kind) : ""}`,
      },
      checkpoint && {
        label: labels.kind,
        text: [checkpoint.kind, checkpoint.phase].filter((each) => each !== null).join(", "),
      },
    ],
    [threadFact(details), undefined],
    [
      row.endedAt === null || row.kind !== "turn" || step !== undefined
        ? undefined
        : { label: labels.ended, text: `${clockSeconds(row.endedAt)} after ${count(row.steps, "step")}` },
      costFact(details),
    ],
    [gitFact(details), undefined],
    [
      checkpoint && {
        label: labels.holds,
        text: `${count(checkpoint.files, "file")}, ${size(checkpoint.bytes)}`,
      },
      newBytes === undefined ? undefined : { label: labels.new, text: DETAIL_WORDS.inStore(size(newBytes)) },
    ],
    [
      row.kind === "turn" && row.name !== null && step === undefined
        ? { label: labels.name, text: visibleLine(row.name) }
        : undefined,
      undefined,
    ],
    [
      { label: labels.note, text: row.note === null ? DETAIL_WORDS.noNote : visibleLine(row.note) },
      {
        label: labels.tags,
        text: row.tags.length === 0 ? DETAIL_WORDS.noTags : row.tags.map(visibleLine).join(" "),
      },
    ],
  ];
  return pairs.flatMap((pair) => factLine(pair, width));
}

function factLine([first, second]: readonly [Fact | undefined, Fact | undefined], width: number): Line[] {
  if (first === undefined) return second === undefined ? [] : [factText(second)];
  if (second === undefined) return [factText(first)];
  const left = factText(first);
  const used = left.reduce((sum, { text }) => sum + displayWidth(text), 0);
  const label = `${padToWidth(second.label, SECOND_LABEL)}  `;
  const needed = displayWidth(label + second.text);
  // where there is no room in its column, the second stands at the right edge
  const column = used + 2 <= SECOND && SECOND + needed <= width ? SECOND : width - needed;
  if (column < used + 2) return [left, factText(second)];
  return [[...left, span(" ".repeat(column - used)), span(label, { dim: true }), span(second.text)]];
}

function factText({ label, text }: Fact): Line {
  return [span(`  ${padToWidth(label, LABEL)}`, { dim: true }), span(text)];
}

function dayText(moment: string, clock: number): string {
  const day = dayOf(moment);
  if (day === dayOf(clock)) return DETAIL_WORDS.today;
  return day === dayOf(clock - DAY_MS) ? ROW_WORDS.yesterday.toLowerCase() : day;
}

function threadFact({ row, thread, checkpoint }: Details): Fact | undefined {
  if (row.thread === null) return undefined;
  const name = thread?.title ?? row.thread.slice(0, 8);
  const message = checkpoint?.messageIndex;
  const parts = [
    `${visibleLine(name)} (${visibleLine(row.agent ?? thread?.agent ?? "")})`,
    ...(message === null || message === undefined ? [] : [DETAIL_WORDS.message(message + 1)]),
    ...(row.session === null ? [] : [visibleLine(row.session)]),
  ];
  return { label: DETAIL_WORDS.labels.thread, text: parts.join(", ") };
}

function costFact({ checkpoint }: Details): Fact | undefined {
  const { cost = null, tokens = null } = checkpoint?.agent ?? {};
  if (cost === null && tokens === null) return undefined;
  const text = [
    cost === null ? "" : `$${cost.toFixed(2)}`,
    tokens === null ? "" : `tokens  ${grouped(tokens)}`,
  ];
  return { label: DETAIL_WORDS.labels.cost, text: text.filter((each) => each !== "").join("   ") };
}

function gitFact({ checkpoint }: Details): Fact | undefined {
  const git = checkpoint?.git;
  if (git === undefined || git === null) return undefined;
  const parts = [
    gitPlace(git),
    ...(git.stagedTotal > 0 ? [DETAIL_WORDS.staged(git.stagedTotal)] : []),
    ...(git.dirty ? [DETAIL_WORDS.uncommitted] : []),
  ];
  return {
    label: DETAIL_WORDS.labels.git,
    text: visibleLine(parts.filter((each) => each !== "").join(", ")),
  };
}

/** Where git was, for the details of a checkpoint: `main 4f2c1a9` */
export function gitPlace({
  branch,
  commit,
}: {
  readonly branch: string | null;
  readonly commit: string | null;
}): string {
  return [branch ?? "", commit?.slice(0, 7) ?? ""].filter((each) => each !== "").join(" ");
}

/** What was not captured, or late: said whole, on as many lines as it takes. */
export function trouble({ gaps, late }: Details, width: number): Line[] {
  const told = (label: string, list: readonly string[]): Line[] => {
    const more = list.length > 2 ? ` and ${ROW_WORDS.more(list.length - 2)}` : "";
    const text = list.length === 0 ? DETAIL_WORDS.none : list.slice(0, 2).join("; ") + more;
    return pieces(text, width - LABEL_WIDTH - 3).map((part, index) => [
      span(`  ${padToWidth(index === 0 ? label : "", LABEL_WIDTH)}`, { dim: true }),
      ...line(part, list.length === 0 ? {} : { colour: "yellow" }),
    ]);
  };
  return [...told(DETAIL_WORDS.notCaptured, gaps), ...told(DETAIL_WORDS.late, late)];
}

const LABEL_WIDTH = 16;
