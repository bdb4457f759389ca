/** Notices of the browser itself, off until they are wanted. Their text has no prompt and no path unless that is allowed. */
import { quantity, quoted, titleOf, useBelay, visible } from "@belay/react";
import { useEffect, useState } from "react";

const MANY_FILES = 20;
const KEY = "belay-notices";

/** What can be told. */
export const NOTICES = [
  { name: "needs", words: "something needs you" },
  { name: "gaps", words: "something was not captured" },
  { name: "many", words: `a turn changed more than ${MANY_FILES} files` },
  { name: "words", words: "and say the prompt or the file" },
] as const;

type Notice = (typeof NOTICES)[number]["name"];

/** Which notices are wanted, and how to change one; the browser may refuse. */
export function useNoticeChoice(): {
  readonly chosen: ReadonlySet<Notice>;
  readonly refusal: string | undefined;
  readonly toggle: (notice: Notice) => Promise<void>;
} {
  const [chosen, setChosen] = useState(read);
  const [refusal, setRefusal] = useState<string>();
  const toggle = async (notice: Notice) => {
    const next = new Set(read());
    if (next.has(notice)) next.delete(notice);
    else if (await isAllowed()) next.add(notice);
    else return setRefusal("The browser does not allow notices of this page. Its settings can change that.");
    localStorage.setItem(KEY, [...next].join(" "));
    setRefusal(undefined);
    setChosen(next);
  };
  return { chosen, refusal, toggle };
}

/** Tells what is wanted, as it happens in the project. */
export function useNotices(project: string): void {
  const { live, client, workspace } = useBelay();
  useEffect(() => {
    const firstGap = (id: string) =>
      client.call("GET /api/checkpoints/:id", { params: { id }, query: { workspace } }).then(
        ({ checkpoint }) => checkpoint.gaps[0]?.path,
        () => undefined,
      );
    return live.onEvent((event) => {
      const wanted = read();
      if (event.type === "coverage_gap" && wanted.has("gaps")) {
        const told = `${quantity(event.gaps, "file")} of a turn ${event.gaps === 1 ? "was" : "were"} not captured`;
        void firstGap(event.checkpoint).then((path) =>
          tell(
            project,
            wanted.has("words") && path ? `${told}: ${visible(path)}` : `${told}.`,
            event.checkpoint,
          ),
        );
      }
      if (event.type === "fix_escalated" && wanted.has("needs"))
        tell(project, "Auto-fix needs you.", event.fix);
      if (event.type === "conflict_opened" && wanted.has("needs"))
        tell(project, "A merge has conflicts for you to decide.", event.merge);
      if (event.type !== "done" || event.checkpoint === null || !wanted.has("many")) return;
      const cid = event.checkpoint;
      void client.call("GET /api/history", { query: { workspace, limit: 1 } }).then(
        ({ rows: [row] }) => {
          const files = row === undefined ? 0 : row.added + row.modified + row.deleted;
          const told = `A turn changed ${quantity(files, "file")}`;
          if (row === undefined || files <= MANY_FILES) return;
          tell(project, wanted.has("words") ? `${told}: ${quoted(titleOf(row), 120)}` : `${told}.`, cid);
        },
        () => undefined,
      );
    });
  }, [live, client, workspace, project]);
}

/** All tabs tell the same; one tag makes them one notice. */
function tell(project: string, body: string, about: string): void {
  if (Notification.permission !== "granted") return;
  const notice = new Notification(project, { body, tag: `belay ${about}` });
  notice.addEventListener("click", () => globalThis.focus());
}

async function isAllowed(): Promise<boolean> {
  if (!("Notification" in globalThis)) return false;
  return (await Notification.requestPermission()) === "granted";
}

function read(): ReadonlySet<Notice> {
  const known = NOTICES.map(({ name }) => name as string);
  const kept = (localStorage.getItem(KEY) ?? "").split(" ").filter((name) => known.includes(name));
  return new Set(kept as Notice[]);
}
