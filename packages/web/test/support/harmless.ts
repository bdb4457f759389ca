/** What strings of strangers may not become: markup, script, a turned direction, a request, a page that scrolls sideways. */
import { expect } from "vitest";
import type { Page } from "playwright-core";

/** Nothing of the strings became anything but text. */
export async function expectHarmless(page: Page, where: string): Promise<void> {
  const found = await page.evaluate(harmIn);
  expect(found, where).toEqual([]);
}

/** Runs in the page: what is there that the page did not make. */
function harmIn(): string[] {
  const harm: string[] = [];
  if ((globalThis as { wasHurt?: number }).wasHurt !== undefined) harm.push("a script ran");
  const strange =
    "script:not([src]), iframe, img:not([src^='blob:']), object, embed, form[action], base, meta[http-equiv], math, b:not([aria-hidden]), svg[onload], style:not([data-theme-css]):not([data-core-css])";
  const roots: ParentNode[] = [document];
  for (const element of document.querySelectorAll("*"))
    if (element.shadowRoot !== null) roots.push(element.shadowRoot);
  const signs = /(?![\t\n\r])[\p{Cc}\p{Bidi_Control}\u2028\u2029]/u;
  for (const root of roots) {
    const isCode = root !== document;
    if (!isCode)
      for (const element of root.querySelectorAll(strange)) harm.push(element.outerHTML.slice(0, 100));
    for (const element of root.querySelectorAll("*")) {
      for (const { name, value } of element.attributes) {
        if (/^on/i.test(name)) harm.push(`${name} of ${element.tagName}`);
        if (signs.test(value) && name !== "href")
          harm.push(`signs in ${name}: ${JSON.stringify(value.slice(0, 60))}`);
        if (/^javascript:/i.test(value) && (name === "href" || name === "src")) harm.push(value);
      }
    }
    const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    for (let text = texts.nextNode(); text !== null; text = texts.nextNode())
      if (signs.test(text.textContent!))
        harm.push(`signs: ${JSON.stringify(text.textContent!.slice(0, 60))}`);
  }
  if (document.documentElement.scrollWidth > innerWidth) harm.push("sideways scroll");
  return harm.slice(0, 5);
}
