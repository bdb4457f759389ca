/** Notes, tags, names and new checkpoints: what users say about states. */
import type { HistoryRow } from "../data/history-row.ts";
import type { Source } from "../data/source.tsx";
import type { Frame } from "../frame/frame.tsx";
import { size } from "../text/quantity.ts";
import { ASK_WORDS } from "../words.ts";
import { AskScreen } from "./ask.tsx";

/** Asks for the note of a row. */
export function askNote(frame: Frame, source: Source, row: HistoryRow): void {
  open(frame, row, {
    title: ASK_WORDS.noteTitle,
    label: ASK_WORDS.note,
    first: row.note ?? "",
    save: (annotation) => change(source, row, { annotation }),
  });
}

/** Tags divided by spaces; one with a space in it stands in quotes. */
const TAGS = /"([^"]+)"|(\S+)/g;

/** Asks for the tags of a row, divided by spaces. */
export function askTags(frame: Frame, source: Source, row: HistoryRow): void {
  open(frame, row, {
    title: ASK_WORDS.tagTitle,
    label: ASK_WORDS.tag,
    first: row.tags.map((tag) => (/\s/.test(tag) ? `"${tag}"` : tag)).join(" "),
    save: (text) =>
      change(source, row, { tags: [...text.matchAll(TAGS)].map((match) => match[1] ?? match[2]!) }),
  });
}

/** Asks for the name of a row. */
export function askName(frame: Frame, source: Source, row: HistoryRow): void {
  open(frame, row, {
    title: ASK_WORDS.nameTitle,
    label: ASK_WORDS.name,
    first: row.name ?? "",
    save: (name) => change(source, row, { name }),
  });
}

/** Asks for a name and keeps the files as they are now. */
export function askCheckpoint(frame: Frame, source: Source, thread: string | undefined): void {
  const take = async (name: string) => {
    const { checkpoint, unchanged } = await source.call("POST /api/checkpoints", {
      query: { workspace: source.place.workspace },
      body: { ...(name !== "" && { name }), ...(thread !== undefined && { thread }) },
    });
    if (unchanged && name === "") return ASK_WORDS.unchanged;
    return ASK_WORDS.taken(name === "" ? "" : ` as "${name}"`, checkpoint.files, size(checkpoint.bytes));
  };
  frame.open(
    <AskScreen
      title={ASK_WORDS.checkpointTitle}
      about={ASK_WORDS.checkpointAbout}
      label={ASK_WORDS.checkpoint}
      answer={take}
    />,
  );
}

interface Asked {
  readonly title: string;
  readonly label: string;
  readonly first: string;
  save(text: string): Promise<void>;
}

function open(frame: Frame, row: HistoryRow, { title, label, first, save }: Asked): void {
  const answer = (text: string) => save(text).then(() => ASK_WORDS.saved);
  frame.open(<AskScreen title={title} about={row.title} label={label} first={first} answer={answer} />);
}

async function change(
  source: Source,
  { id }: HistoryRow,
  body: { annotation?: string; name?: string; tags?: string[] },
): Promise<void> {
  const query = { workspace: source.place.workspace };
  await source.call("PUT /api/checkpoints/:cid", { params: { cid: id }, query, body });
}
