/** AgentSmithy's search over what its agents touched: in step with edits, restores and resets. */
import { hash } from "node:crypto";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { Project, VectorStoreManager, VersioningTracker } from "../src/agentsmithy.ts";
import { closeDropIn } from "../src/index.ts";
import { makePlace } from "./support/place.ts";

function searched() {
  const place = makePlace({
    "login.py": "def verify_password(user):\n    return check_hash(user)\n",
    "cart.py": "def add_to_basket(item):\n    basket.append(item)\n",
    "never_read.py": "def verify_password_again():\n    pass\n",
  });
  const project = new Project(place.root, place.options);
  const tracker = new VersioningTracker(place.root, project.create_dialog(), place.options);
  const vectors = new VectorStoreManager(project);
  onTestFinished(() => vectors.close());
  const sources = async (query: string) =>
    (await vectors.similarity_search(query)).map(({ metadata }) => metadata.source);
  return { ...place, project, tracker, vectors, sources };
}

test("[R354] [A49] [A50] [A51] [A54] original 9: files are found from when they were indexed until they are taken out, with their hash", async () => {
  const { vectors, sources, root } = searched();
  expect(await sources("verify password")).toEqual([]);
  expect(await vectors.index_file(join(root, "login.py"))).toEqual(["login.py#0"]);
  expect(await vectors.index_file("cart.py", "x".repeat(2500))).toHaveLength(3);
  await vectors.index_file("cart.py");
  const [found] = await vectors.similarity_search("verify password", 1);
  expect(found).toEqual({
    page_content: "def verify_password(user):\n    return check_hash(user)\n",
    metadata: { source: "login.py", hash: vectors.get_indexed_files()["login.py"] },
  });
  expect(found!.metadata.hash).toBe(hash("sha256", found!.page_content, "hex"));
  vectors.delete_by_source("login.py");
  expect([await vectors.has_file("login.py"), await vectors.has_file("cart.py")]).toEqual([false, true]);
  expect(Object.keys(vectors.get_indexed_files())).toEqual(["cart.py"]);
  await expect(vectors.index_file("../elsewhere.py")).rejects.toMatchObject({ code: "PATH_OUTSIDE" });
});

test("[A17] [A22] [A52] [A55] a restore re-indexes exactly its files that are in the index, and approval none", async () => {
  const { tracker, vectors, sources, write } = searched();
  await vectors.index_file("login.py");
  const { commit_id } = tracker.create_checkpoint("before");
  write("login.py", "def passport_control():\n    pass\n");
  write("never_read.py", "def passport_control_too():\n    pass\n");
  expect(await vectors.reindex_files(["login.py", "never_read.py"])).toBe(1);
  expect(await sources("passport control")).toEqual(["login.py"]);
  const before = vectors.get_indexed_files();
  tracker.approve_all("done");
  expect(vectors.get_indexed_files()).toEqual(before);
  tracker.restore_checkpoint(commit_id);
  expect(await sources("verify password")).toEqual(["login.py"]);
  expect(Object.keys(vectors.get_indexed_files())).toEqual(["login.py"]);
  expect(await vectors.reindex_file("never_read.py")).toEqual([]);
});

test("[A53] what changed or went without a tool is found before the next message; the fronts may be closed in between", async () => {
  const { vectors, sources, root } = searched();
  await vectors.index_file("login.py");
  await vectors.index_file("cart.py");
  writeFileSync(join(root, "login.py"), "def by_hand():\n    pass\n");
  rmSync(join(root, "cart.py"));
  closeDropIn();
  expect(await vectors.sync_files_if_needed()).toEqual({ checked: 2, reindexed: 1, removed: 1, skipped: 0 });
  expect(await vectors.sync_files_if_needed()).toMatchObject({ reindexed: 0, removed: 0 });
  expect(await sources("by hand")).toEqual(["login.py"]);
});
