/** Two states compared over HTTP: the list, one file, and a file's bytes. */
import { execFileSync } from "node:child_process";
import { hash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, test } from "vitest";
import { served, type ServedProject } from "./support/served-project.ts";

const raw = (project: ServedProject, path: string) =>
  fetch(project.url + path, { headers: { authorization: `Bearer ${project.token}` } });

const SECRET = "const key = 'sk-ant-api03-abcdefghij0123456789abcdefghij';";

describe("two states", () => {
  test(
    "[R26] content that the store has lost is marked; the other files are listed and counted",
    served(
      async (project) => {
        project.write("a.txt", "two\n");
        project.write("b.txt", "two lines\nof b\n");
        const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
        const store = new DatabaseSync(project.store());
        const lost = Buffer.from(hash("sha256", "two lines\nof b\n"), "hex");
        expect(store.prepare("DELETE FROM object WHERE hash = ?").run(lost).changes).toBe(1);
        store.close();
        const { files } = await project.ok("GET", `/api/checkpoints/1/files/${checkpoint.id}`);
        expect(files).toMatchObject([
          { path: "a.txt", linesAdded: 1, linesDeleted: 1 },
          { path: "b.txt", linesAdded: null, linesDeleted: null, damaged: true },
        ]);
      },
      { "a.txt": "one\n", "b.txt": "one\n" },
    ),
  );

  test(
    "[R240] a checkpoint and the disk, or another one: counts without text, then one file in lines",
    served(
      async (project) => {
        project.write("a.txt", "one\ntwo\n");
        project.write("b.txt", `${SECRET}\n`);
        const { checkpoint } = await project.ok("POST", "/api/checkpoints", {});
        project.write("a.txt", "one\n  two\n");
        const list = await project.ok("GET", `/api/checkpoints/1/files/${checkpoint.id}`);
        expect(list).toMatchObject({
          to: checkpoint.id,
          summary: { added: 1, modified: 1, deleted: 0, linesAdded: 2, linesDeleted: 0 },
        });
        expect(list.files.map(({ path, linesAdded }: any) => [path, linesAdded])).toEqual([
          ["a.txt", 1],
          ["b.txt", 1],
        ]);
        expect(list.files[0]).not.toHaveProperty("diff");
        const names = await project.ok("GET", `/api/checkpoints/1/files/disk?detail=names`);
        expect(names.files[0].linesAdded).toBeNull();
        const at = `/api/checkpoints/${checkpoint.id}/files/disk`;
        const { hunks, file, to } = await project.ok("GET", `${at}/diff?path=a.txt&context=0`);
        expect({ to, type: file.type }).toEqual({ to: null, type: "modified" });
        expect(hunks[0].lines).toEqual([
          { type: "-", text: "two", old: 2, new: null },
          { type: "+", text: "  two", old: null, new: 2 },
        ]);
        const spaceless = await project.ok("GET", `${at}/diff?path=a.txt&whitespace=ignore`);
        expect(spaceless).toMatchObject({ file: { linesAdded: 0 }, hunks: [] });
        const same = await project.ok("GET", `${at}/diff?path=b.txt`);
        expect(same).toMatchObject({ file: null, hunks: [], truncated: false });
      },
      { "a.txt": "one\n" },
    ),
  );

  test(
    "[R168] a diff shows the content of files as it is",
    served(async (project) => {
      project.write("key.js", `${SECRET}\n`);
      const { hunks } = await project.ok("GET", "/api/checkpoints/1/files/disk/diff?path=key.js");
      expect(hunks[0].lines[0].text).toBe(SECRET);
    }),
  );

  test(
    "a request that names no file, two, or no such checkpoint is refused",
    served(async (project) => {
      const status = async (path: string) => (await project.call("GET", path)).status;
      expect(await status("/api/checkpoints/1/files/disk/diff")).toBe(400);
      expect(await status("/api/checkpoints/1/files/disk/diff?path=a&pathBase64=YQ==")).toBe(400);
      expect(await status("/api/checkpoints/1/files/disk/diff?path=a&whitespace=some")).toBe(400);
      expect(await status("/api/checkpoints/99/files/disk")).toBe(404);
      expect(await status("/api/checkpoints/1/files/99")).toBe(404);
      expect(await status("/api/checkpoints/1/blob")).toBe(400);
      expect(await status("/api/checkpoints/99/blob?path=a.txt")).toBe(404);
    }),
  );
});

describe("the bytes of a file", () => {
  test(
    "[R241, R1550] are exact, also of a name that is not UTF-8 and in an archive, and no browser may render them",
    served(async (project) => {
      const bytes = Buffer.from("<script>alert(1)</script>\0\xff\xfe", "latin1");
      const name = Buffer.from([0x61, 0xff]);
      writeFileSync(Buffer.concat([Buffer.from(`${project.project}/`), name]), bytes);
      project.write("page.html", bytes);
      await project.ok("POST", "/api/checkpoints", {});
      project.write("page.html", "now");
      for (const query of ["path=page.html", `pathBase64=${encodeURIComponent(name.toString("base64"))}`]) {
        const answer = await raw(project, `/api/checkpoints/@/blob?${query}`);
        expect(Buffer.from(await answer.arrayBuffer())).toEqual(bytes);
        expect(Object.fromEntries(answer.headers)).toMatchObject({
          "content-type": "application/octet-stream",
          "x-content-type-options": "nosniff",
          "content-disposition": "attachment",
          "content-security-policy": "default-src 'none'; sandbox",
          "cache-control": "no-store",
        });
      }
      expect(await (await raw(project, "/api/checkpoints/disk/blob?path=page.html")).text()).toBe("now");
      const archive = await raw(project, "/api/checkpoints/@/archive");
      expect(Object.fromEntries(archive.headers)).toMatchObject({
        "content-type": "application/x-tar",
        "x-content-type-options": "nosniff",
        "content-disposition": "attachment",
      });
      const input = Buffer.from(await archive.arrayBuffer());
      expect(execFileSync("tar", ["-xOf", "-", "page.html"], { input })).toEqual(bytes);
      expect(execFileSync("tar", ["-tf", "-"], { input, encoding: "utf8" }).split("\n")).toHaveLength(4);
      expect((await raw(project, "/api/checkpoints/99/archive")).status).toBe(404);
    }),
  );

  test(
    "[R241] of a path outside, of a directory, or behind a link that leads out are not found",
    served(async (project) => {
      project.write("sub/x", "x");
      for (const path of ["../../etc/passwd", "/etc/passwd", "sub", "a.txt/", "sub/../a.txt"])
        for (const state of ["1", "disk"]) {
          const answer = await raw(
            project,
            `/api/checkpoints/${state}/blob?path=${encodeURIComponent(path)}`,
          );
          expect([state, path, answer.status]).toEqual([state, path, 404]);
        }
    }),
  );

  test(
    "[R241] over 64 MiB are refused with the size",
    served(async (project) => {
      writeFileSync(project.path("big"), Buffer.alloc(64 * 1024 * 1024 + 1));
      const answer = await project.call("GET", "/api/checkpoints/disk/blob?path=big");
      expect(answer).toMatchObject({
        status: 413,
        body: { error: { code: "FILE_TOO_LARGE", size: 67108865 } },
      });
    }),
  );
});
