/**
 * From file to file and from hunk to hunk by keys. The place that a key led to is marked, and stays the one that keys act
 * on for as long as it is in view: the last of many short files never come to the top.
 */
const BODY = ".b-cmpbody";
const MARK = "data-at";

/** Goes to the next or previous element of a kind; gives its name for readers, nothing where there is none. */
export function step(selector: string, by: 1 | -1): string {
  const body = document.querySelector(BODY);
  if (body === null) return "";
  const all = [...body.querySelectorAll(selector)];
  const marked = markedIn(body);
  const from = all.findIndex((each) => each === marked);
  const next =
    marked === undefined ? nearest(body, all, by) : from < 0 ? beside(marked, all, by) : all[from + by];
  if (next === undefined) return "";
  mark(next);
  next.scrollIntoView({ block: "start" });
  return next.closest("[aria-label]")?.getAttribute("aria-label") ?? "";
}

/** Makes an element the one that keys act on. */
export function mark(element: Element): void {
  for (const old of document.querySelectorAll(`[${MARK}]`)) old.removeAttribute(MARK);
  element.setAttribute(MARK, "");
}

/** Presses a button of the file or hunk that is marked; of the topmost one in view where none is. */
export function pressTop(place: string, button: string): void {
  const body = document.querySelector(BODY);
  if (body === null) return;
  const marked = markedIn(body);
  const its = marked?.closest(place) ?? marked?.querySelector(place);
  const top = body.getBoundingClientRect().top;
  const topmost = [...body.querySelectorAll(place)].find(
    (element) => element.getBoundingClientRect().bottom > top + 50,
  );
  (its ?? topmost)?.querySelector<HTMLElement>(button)?.click();
}

/** The marked element, while it is in view. */
function markedIn(body: Element): Element | undefined {
  const marked = body.querySelector(`[${MARK}]`);
  if (marked === null) return undefined;
  const [frame, place] = [body.getBoundingClientRect(), marked.getBoundingClientRect()];
  return place.bottom > frame.top && place.top < frame.bottom ? marked : undefined;
}

/** From a file to its first hunk or the last one before it; from a hunk to its file or the next. */
function beside(marked: Element, all: readonly Element[], by: 1 | -1): Element | undefined {
  const lies = (each: Element, where: number) => (marked.compareDocumentPosition(each) & where) !== 0;
  return by > 0
    ? all.find((each) => lies(each, Node.DOCUMENT_POSITION_FOLLOWING))
    : all.findLast((each) => lies(each, Node.DOCUMENT_POSITION_PRECEDING));
}

/** The first element below the top of the view, or the last one above it. */
function nearest(body: Element, all: readonly Element[], by: 1 | -1): Element | undefined {
  const top = body.getBoundingClientRect().top;
  const at = (element: Element) => element.getBoundingClientRect().top - top;
  return by > 0 ? all.find((each) => at(each) > 60) : all.findLast((each) => at(each) < -4);
}
