/**
 * What an eye would find wrong with a screen. Pictures of it would differ with the fonts and the Chromium of each
 * machine, so facts of its layout are compared instead: nothing scrolls sideways, nothing is cut without a sign,
 * nothing lies over anything else. Contrast and sizes are axe's.
 */
import type { Page } from "playwright-core";

/** The faults of the page as it is. */
export function faultsOf(page: Page): Promise<string[]> {
  return page.evaluate(faultsInPage);
}

/** Runs in the page. */
function faultsInPage(): string[] {
  const faults: string[] = [];
  /** Words that go on for so many lines want this much room. */
  const [NARROWEST, MOST_LINES] = [100, 6];
  // what lies on top is looked at alone: a menu covers what is below it
  const scope: ParentNode = document.querySelector("dialog[open], :popover-open") ?? document;
  const name = (element: Element) =>
    `${element.tagName.toLowerCase()}.${element.className} “${(element.textContent ?? "").trim().slice(0, 40)}”`;
  const isShown = (element: Element) =>
    element.checkVisibility({ opacityProperty: true, visibilityProperty: true }) &&
    element.closest(".b-vh, [aria-hidden=true], svg") === null;
  if (document.documentElement.scrollWidth > innerWidth) faults.push("the page scrolls sideways");

  /** The part of an element that its scrolling ancestors leave in view. */
  const inView = (element: Element) => {
    const place = element.getBoundingClientRect();
    let [left, top, right, bottom] = [place.left, place.top, place.right, place.bottom];
    for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
      if (getComputedStyle(parent).overflow === "visible") continue;
      const frame = parent.getBoundingClientRect();
      left = Math.max(left, frame.left);
      top = Math.max(top, frame.top);
      right = Math.min(right, frame.right);
      bottom = Math.min(bottom, frame.bottom);
    }
    return { left, top, right: Math.min(right, innerWidth), bottom: Math.min(bottom, innerHeight), place };
  };

  const boxOf = (element: Element): Element =>
    getComputedStyle(element).display.startsWith("inline") && element.parentElement !== null
      ? boxOf(element.parentElement)
      : element;

  /** The words of an element that something around it cuts off, where no ellipsis can say so. */
  const isCutByFrame = (element: Element) => {
    const words = document.createRange();
    words.selectNodeContents(element);
    const { left, right } = words.getBoundingClientRect();
    if (getComputedStyle(element).overflowX !== "visible") return false;
    for (let parent = element.parentElement; parent !== null; parent = parent.parentElement) {
      const { overflowX, textOverflow, webkitLineClamp, display } = getComputedStyle(parent);
      if (overflowX === "auto" || overflowX === "scroll" || webkitLineClamp !== "none") return false;
      if (textOverflow === "ellipsis" && !display.includes("flex") && !display.includes("grid")) return false;
      const frame = parent.getBoundingClientRect();
      if (overflowX !== "visible" && (right > frame.right + 1 || left < frame.left - 1)) return true;
      // what is in the top layer is cut by nothing around it
      if (parent.matches("dialog[open], :popover-open")) return false;
    }
    return false;
  };

  for (const element of scope.querySelectorAll<HTMLElement>("*")) {
    const hasText = [...element.childNodes].some(
      (node) => node.nodeType === 3 && node.textContent!.trim() !== "",
    );
    if (!hasText || !isShown(element)) continue;
    const style = getComputedStyle(element);
    const isCut =
      element.scrollWidth > element.clientWidth + 1 && element.clientWidth > 1 && style.display !== "inline";
    const hasSign = style.textOverflow === "ellipsis" || style.webkitLineClamp !== "none";
    if (isCut && style.overflowX === "hidden" && !hasSign)
      faults.push(`cut without a sign: ${name(element)}`);
    const { place } = inView(element);
    const lines = place.height / Number.parseFloat(style.lineHeight);
    if (place.width > 1 && place.width < NARROWEST && lines > MOST_LINES)
      faults.push(`squeezed: ${name(element)}`);
    // an inline element draws over its neighbour where the box around it is too narrow
    const box = boxOf(element);
    if (box !== element && place.right > box.getBoundingClientRect().right + 1)
      if (getComputedStyle(box).overflowX === "visible") faults.push(`sticks out: ${name(element)}`);
    if (isCutByFrame(element)) faults.push(`cut by its frame: ${name(element)}`);
    const scrolls = element.closest("[data-scrolls], pre, .b-lines, .b-view") !== null;
    if (
      place.width > 0 &&
      place.right > innerWidth + 1 &&
      !scrolls &&
      inView(element).right > inView(element).left
    )
      faults.push(`beyond the right edge: ${name(element)}`);
  }

  const pen = document.createElement("canvas").getContext("2d")!;
  for (const field of scope.querySelectorAll<HTMLInputElement>("input:placeholder-shown")) {
    const { font, textOverflow, paddingLeft, paddingRight } = getComputedStyle(field);
    pen.font = font;
    const room = field.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
    const isCut = pen.measureText(field.placeholder).width > room + 1;
    if (isShown(field) && isCut && textOverflow !== "ellipsis")
      faults.push(`cut without a sign: the words of a field “${field.placeholder}”`);
  }

  const pressable = "button, a[href], input, select, textarea, summary";
  for (const element of scope.querySelectorAll<HTMLElement>(pressable)) {
    if (!isShown(element)) continue;
    const { left, top, right, bottom, place } = inView(element);
    // partly scrolled out of view: not for this look
    if (right - left < place.width - 1 || bottom - top < place.height - 1 || place.width === 0) continue;
    const found = document.elementFromPoint((left + right) / 2, (top + bottom) / 2);
    const isOwn =
      found !== null &&
      (element.contains(found) || found.contains(element) || found.closest("label")?.contains(element));
    if (isOwn !== true)
      faults.push(`covered by ${found === null ? "nothing" : name(found)}: ${name(element)}`);
  }
  return [...new Set(faults)].slice(0, 6);
}
