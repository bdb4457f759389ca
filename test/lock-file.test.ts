/** The lock file is whole: `npm ci` refuses one in which a package of any platform is missing. So is what is published. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly link?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

interface Package {
  readonly name: string;
  readonly private?: boolean;
  readonly dependencies?: Readonly<Record<string, string>>;
}

const lock = JSON.parse(readFileSync(join(import.meta.dirname, "../package-lock.json"), "utf8")) as {
  packages: Readonly<Record<string, LockedPackage>>;
};

test("every dependency of every package has an entry, on all platforms", () => {
  const missing = Object.entries(lock.packages).flatMap(([path, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => entryFor(name, path) === undefined)
      .map((name) => `${path} needs ${name}`),
  );
  expect(missing).toEqual([]);
});

test("it names no place that packages were fetched from", () => {
  const named = Object.values(lock.packages).filter(({ resolved, link }) => link !== true && resolved);
  expect(named).toEqual([]);
});

test("a package that can be published needs none that cannot", () => {
  const packages = readdirSync(join(import.meta.dirname, "../packages")).map(
    (name) =>
      JSON.parse(
        readFileSync(join(import.meta.dirname, "../packages", name, "package.json"), "utf8"),
      ) as Package,
  );
  const isPrivate = new Set(packages.filter((each) => each.private === true).map(({ name }) => name));
  const wrong = packages
    .filter((each) => each.private !== true)
    .flatMap(({ name, dependencies = {} }) =>
      Object.keys(dependencies)
        .filter((needed) => isPrivate.has(needed))
        .map((needed) => `${name} needs ${needed}`),
    );
  expect(wrong).toEqual([]);
});

/** As Node looks for it: in the package, then in the directories above. */
function entryFor(name: string, path: string): LockedPackage | undefined {
  const own = lock.packages[`${path === "" ? "" : `${path}/`}node_modules/${name}`];
  if (own !== undefined || path === "") return own;
  const above = path.lastIndexOf("/node_modules/");
  return entryFor(name, above < 0 ? "" : path.slice(0, above));
}
