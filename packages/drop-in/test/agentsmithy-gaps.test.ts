/** What AgentSmithy's tracker says about files that it could not save or write. */
import { expect, test } from "vitest";
import { canMakeImmutable, setImmutable } from "../../engine/test/support/project.ts";
import { Project, VersioningTracker } from "../src/agentsmithy.ts";
import { makePlace } from "./support/place.ts";

test("[A80] files that cannot be saved are gaps: the checkpoint is taken, and the log has the first five and how many more", () => {
  const place = makePlace({ "main.py": "x\n" });
  place.write("../home/config.json", JSON.stringify({ "limits.fileBytes": 10 }));
  const tracker = new VersioningTracker(
    place.root,
    new Project(place.root, place.options).create_dialog(),
    place.options,
  );
  const warnings = () => place.lines.filter(({ event }) => event === "not_captured");
  for (const number of [1, 2, 3, 4, 5]) place.write(`large-${number}`, "x".repeat(11));
  const five = tracker.create_checkpoint("five");
  expect(five.not_captured).toHaveLength(5);
  place.write("large-6", "x".repeat(11));
  place.write("large-7", "x".repeat(11));
  const { commit_id, not_captured } = tracker.create_checkpoint("seven");
  expect(not_captured.at(-1)).toEqual({ path: "large-7", reason: "too-large" });
  const named = [1, 2, 3, 4, 5].map((number) => `large-${number} (too-large)`).join(", ");
  expect(warnings()).toMatchObject([{ files: named }, { level: "warning", files: `${named}, … and 2 more` }]);
  place.write("main.py", "y\n");
  expect(tracker.restore_checkpoint(commit_id)).toEqual(["main.py"]);
  expect(place.read("large-7")).toHaveLength(11);
});

test.skipIf(!canMakeImmutable)(
  "[A29] [A59] a file that cannot be written is skipped, returned with its reason and logged; the others are restored",
  () => {
    const place = makePlace({ "fixed.py": "x\n", "free.py": "x\n" });
    const tracker = new VersioningTracker(
      place.root,
      new Project(place.root, place.options).create_dialog(),
      place.options,
    );
    const { commit_id } = tracker.create_checkpoint("before");
    for (const path of ["fixed.py", "free.py"]) place.write(path, "y\n");
    setImmutable(`${place.root}/fixed.py`, true);
    try {
      expect(tracker.restore_checkpoint(commit_id)).toEqual(["free.py"]);
    } finally {
      setImmutable(`${place.root}/fixed.py`, false);
    }
    const skipped = { path: "fixed.py", reason: "it is immutable" };
    expect(tracker.last_restore!.skipped).toEqual([skipped]);
    expect(place.lines.at(-1)).toMatchObject({ level: "warning", event: "restore_skipped", ...skipped });
    expect([place.read("fixed.py"), place.read("free.py")]).toEqual(["y\n", "x\n"]);
  },
);
