/** What differs between two states of a workspace, file by file, and the bytes of one file or of all. Nothing is changed. */
import { tarArchive, type Workspace } from "@belay/engine";
import { ContractError } from "@belay/protocol/errors";
import type { Hono } from "hono";
import type { HostedWorkspace } from "../hosting/hosted-workspace.ts";
import { serveRoute } from "../http/serve-route.ts";
import { diffJson, fileDiffJson } from "../json/index.ts";
import { pathFromJson } from "../json/path-json.ts";
import { defined, inWorkspace, type Served } from "./served.ts";

/** What a request calls the files as they are now. */
const DISK = "disk";

/** The largest file that is sent whole. */
const BLOB_BYTES = 64 * 1024 * 1024;

/** Serves the comparison of two states, of one file in them, a file's bytes, and all files as an archive. */
export function serveComparisons(app: Hono, served: Served): void {
  serveRoute(app, "GET /api/checkpoints/:a/files/:b", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const { detail = "list" } = query;
      const states = await statesOf(workspace, params);
      const threads = new Map((await workspace.threads.list()).map(({ id, agent }) => [id, agent]));
      return diffJson(await workspace.diff({ ...states, detail, authors: true }), threads);
    }),
  );
  serveRoute(app, "GET /api/checkpoints/:a/files/:b/diff", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const states = await statesOf(workspace, params);
      const { context, whitespace, large } = query;
      const options = { path: pathFromJson(query), ...defined({ context, whitespace, large }) };
      const { from, to = null } = states;
      return fileDiffJson(await workspace.diffFile({ ...states, ...options }), { from, to });
    }),
  );
  serveRoute(app, "GET /api/checkpoints/:id/blob", ({ params, query }) =>
    inWorkspace(served, query.workspace, async (workspace) => {
      const path = pathFromJson(query);
      const checkpoint = params.id === DISK ? null : (await workspace.resolve(params.id)).id;
      const file = await workspace.file(checkpoint, path, BLOB_BYTES);
      if (file === null) throw noFile(params.id, query.path ?? path);
      if (file.content === null)
        throw new ContractError(
          "FILE_TOO_LARGE",
          `The file has ${file.size} bytes; at most ${BLOB_BYTES} are sent.`,
          { facts: { size: file.size, limit: BLOB_BYTES } },
        );
      return bytesAnswer(new Uint8Array(file.content), "application/octet-stream");
    }),
  );
  serveRoute(app, "GET /api/checkpoints/:id/archive", async ({ params, query }) => {
    const hosted = await served.host.find(query.workspace);
    const { workspace } = hosted;
    const { id, createdAt } = await hosted.inTurn(() => workspace.resolve(params.id));
    return bytesAnswer(sentFrom(hosted, tarArchive(workspace.files(id), createdAt)), "application/x-tar");
  });
}

/** Pieces as they are read; the workspace stays open until the last one is sent or the reader leaves. */
function sentFrom(hosted: HostedWorkspace, pieces: AsyncGenerator<Buffer>): ReadableStream<Uint8Array> {
  const ended = Promise.withResolvers<undefined>();
  void hosted.beside(() => ended.promise);
  const end = () => ended.resolve(undefined);
  return new ReadableStream({
    async pull(controller) {
      try {
        const { value, done } = await pieces.next();
        if (done !== true) return controller.enqueue(new Uint8Array(value));
        controller.close();
      } catch (error) {
        // the connection breaks: a part of an archive never looks like the whole
        controller.error(error);
      }
      end();
    },
    async cancel() {
      await pieces.return(undefined);
      end();
    },
  });
}

async function statesOf(workspace: Workspace, { a, b }: { a: string; b: string }) {
  const { id: from } = await workspace.resolve(a);
  return { from, ...(b === DISK ? {} : { to: (await workspace.resolve(b)).id }) };
}

function noFile(checkpoint: string, path: string): ContractError {
  const where = checkpoint === DISK ? "on disk" : `in checkpoint ${checkpoint}`;
  return new ContractError("PATH_NOT_IN_CHECKPOINT", `There is no file ${JSON.stringify(path)} ${where}.`, {
    facts: { path, checkpoint },
  });
}

/** Bytes that no browser may take for a page, a script or a style of ours. */
function bytesAnswer(content: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>, type: string): Response {
  return new Response(content, {
    headers: {
      "content-type": type,
      "content-disposition": "attachment",
      "content-security-policy": "default-src 'none'; sandbox",
      "x-content-type-options": "nosniff",
    },
  });
}
