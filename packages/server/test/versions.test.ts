/** Versions, branches and tags that a program makes through Code Buddy's classes, as the command line and the API have them. */
import { expect, test } from "vitest";
import { CheckpointVersioning, PersistentCheckpointManager } from "../../drop-in/src/code-buddy.ts";
import { closeDropIn } from "../../drop-in/src/index.ts";
import { served } from "./support/served-project.ts";

test(
  "[C53] [C55] a version, its tag and its branch are found by commands and over HTTP, and the files go back to them",
  served(async (project) => {
    const before = process.cwd();
    process.chdir(project.project);
    try {
      const options = { home: project.home };
      const checkpoint = new PersistentCheckpointManager({}, options).createCheckpoint(
        "Initial project setup",
      );
      const versioning = new CheckpointVersioning({ autoSave: false }, options);
      const { id } = versioning.createVersion(checkpoint, { name: "v1.0" });
      versioning.createTag(id, "release-1.0");
      versioning.createBranch("feature/new-ui", id, "a try");
      const names = [{ name: "main" }, { name: "feature/new-ui", description: "a try" }];
      expect((await project.ok("GET", "/api/branches")).branches).toMatchObject(names);
      expect(JSON.parse(project.belay("branch", "--json").stdout).branches).toMatchObject(names);
      const shown = { description: "Initial project setup", tags: ["release-1.0"] };
      expect(JSON.parse(project.belay("show", id, "--json").stdout).checkpoint).toMatchObject(shown);
      project.write("a.txt", "changed\n");
      expect(project.belay("restore", "release-1.0", "--yes").status).toBe(0);
      expect(project.read("a.txt")).toBe("one\n");
    } finally {
      closeDropIn();
      process.chdir(before);
    }
  }),
);
