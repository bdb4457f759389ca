/** Where the page's keys work from: the list, or what the view has instead. */
const HOMES = ["[role=treegrid]", "main[tabindex]", "main [tabindex='0']"];

/**
 * Gives the focus back to an element. Where it is gone, as the button of a message that was closed, the list gets it: a
 * focus on nothing would send a person with a keyboard back to the top of the page.
 */
export function giveFocus(element: Element | null): void {
  const isThere = element instanceof HTMLElement && element.isConnected && element !== document.body;
  const homes = HOMES.map((home) => document.querySelector<HTMLElement>(home));
  const place = isThere ? element : homes.find((home) => home !== null);
  place?.focus({ preventScroll: true });
}
