/** What a button looks like that takes something away. */
import { expect } from "vitest";
import type { Locator } from "playwright-core";

/** As it is drawn, in the light theme: a class alone colours nothing. */
export async function expectRed(button: Locator): Promise<void> {
  const colour = () =>
    button.evaluate((element) => (globalThis as any).getComputedStyle(element).backgroundColor as string);
  await expect.poll(colour).toBe("rgb(176, 40, 31)");
}
