/** Going back in the page, held against the disk: what the preview said is what happened, and the result's button undoes it. */
import { isUtf8 } from "node:buffer";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { expect } from "vitest";
import type { Page } from "playwright-core";
import type { ServedProject } from "../../../server/test/support/served-project.ts";
import { dialog, toast, type Hand } from "./hand.ts";

/** Every path with its mode and bytes. */
export type Tree = ReadonlyMap<string, string>;

/** The directory, byte for byte, also where names are not UTF-8. */
export function treeOf({ project }: ServedProject): Tree {
  const tree = new Map<string, string>();
  const walk = (below: Buffer) => {
    const names = readdirSync(Buffer.concat([Buffer.from(`${project}/`), below]), { encoding: "buffer" });
    for (const name of names.sort(Buffer.compare)) {
      const path = Buffer.concat([below, name]);
      const place = Buffer.concat([Buffer.from(`${project}/`), path]);
      const stat = lstatSync(place);
      if (stat.isDirectory()) walk(Buffer.concat([path, Buffer.from("/")]));
      else {
        const content = stat.isSymbolicLink() ? readlinkSync(place) : readFileSync(place, "base64");
        tree.set(nameOf(path), `${stat.mode.toString(8)} ${content}`);
      }
    }
  };
  walk(Buffer.alloc(0));
  return tree;
}

function nameOf(path: Buffer): string {
  return isUtf8(path) ? path.toString() : path.toString("latin1");
}

interface Groups {
  readonly deleted: readonly string[];
  readonly changed: readonly string[];
  readonly back: readonly string[];
}

const REGIONS = {
  deleted: ["Will be deleted"],
  changed: ["Will change", "Will get another mode"],
  back: ["Will come back"],
};

/** What the open preview says it will do to which files. */
async function said(hand: Hand): Promise<Groups> {
  const { page } = hand;
  const paths = async (names: readonly string[]) => {
    const found: string[] = [];
    for (const name of names) {
      const region = dialog(page).getByRole("region", { name, exact: true });
      const more = region.getByRole("button", { name: /^…and/ });
      if (await more.isVisible()) await hand.press(more);
      found.push(
        ...(await region.evaluateAll((regions) =>
          regions.flatMap((each) =>
            [...each.querySelectorAll(".b-filerow")]
              .filter((file) => file.querySelector<HTMLInputElement>("input")?.checked !== false)
              .map((file) => file.querySelector("[title]")!.getAttribute("title")!),
          ),
        )),
      );
    }
    return found.sort();
  };
  return {
    deleted: await paths(REGIONS.deleted),
    changed: await paths(REGIONS.changed),
    back: await paths(REGIONS.back),
  };
}

function done(before: Tree, after: Tree): Groups {
  return {
    deleted: [...before.keys()].filter((path) => !after.has(path)),
    changed: [...before.keys()].filter((path) => after.has(path) && after.get(path) !== before.get(path)),
    back: [...after.keys()].filter((path) => !before.has(path)),
  };
}

/** A preview that is open, and what must hold once it is confirmed. */
export interface GoingBack {
  readonly project: ServedProject;
  readonly hand: Hand;
  /** The button that acts. */
  readonly confirm: RegExp;
  /** What the page says afterwards. */
  readonly says: RegExp;
  /** Looks at the files before they are brought back. */
  check?(tree: Tree): void;
}

/**
 * Confirms the open preview: the disk is what it said, the store is sound, and the button of the result brings
 * everything back byte for byte.
 */
export async function goBack({ project, hand, confirm, says, check }: GoingBack): Promise<void> {
  const { page } = hand;
  await dialog(page).getByRole("button", { name: confirm }).waitFor();
  const before = treeOf(project);
  const promised = await said(hand);
  expect([...promised.deleted, ...promised.changed, ...promised.back]).not.toEqual([]);
  await hand.confirm(confirm);
  await toast(page).getByText(says).waitFor();
  const after = treeOf(project);
  expect(done(before, after)).toEqual(promised);
  check?.(after);
  verifyStore(project);
  await hand.press(toast(page).getByRole("button", { name: /^(Undo|Redo)$/ }));
  await hand.confirm(/^(Undo|Redo) \d+ files?/);
  await toast(page)
    .getByText(/^(Undid|Redid)/)
    .waitFor();
  expect(treeOf(project)).toEqual(before);
  verifyStore(project);
  await expectFocus(page);
}

/** A person with a keyboard always knows where they are. */
async function expectFocus(page: Page): Promise<void> {
  await expect.poll(() => page.evaluate("document.activeElement !== document.body")).toBe(true);
}

export function verifyStore(project: ServedProject): void {
  expect(project.problems()).toEqual([]);
}

/** The text of files, undefined where there is none. */
export function expectTree(
  project: ServedProject,
  files: Readonly<Record<string, string | undefined>>,
): void {
  expect(Object.fromEntries(Object.keys(files).map((path) => [path, project.read(path)]))).toEqual(files);
}
