/** An embedder over HTTP, against a real server on this machine. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { endpointEmbedder, openIndex } from "../src/index.ts";
import { inProject } from "./support/project.ts";

interface Asked {
  readonly path: string;
  readonly key: string | undefined;
  readonly model: string;
  readonly input: string[];
}

/** A server that answers like OpenAI's: a vector says how often each of a few words occurs. */
async function withEndpoint(
  answer: (asked: Asked, number: number) => { status?: number; body?: unknown } | "silent" | undefined,
  body: (url: string, asked: Asked[]) => Promise<void>,
): Promise<void> {
  const asked: Asked[] = [];
  const server = createServer((request, response) => {
    void readAll(request).then((text) => {
      const { model, input } = JSON.parse(text) as { model: string; input: string[] };
      asked.push({ path: request.url ?? "", key: request.headers.authorization, model, input });
      const special = answer(asked.at(-1)!, asked.length);
      if (special === "silent") return;
      response.statusCode = special?.status ?? 200;
      const data = input.map((each, index) => ({ index, embedding: vectorOf(each) })).toReversed();
      response.end(JSON.stringify(special?.body ?? { data }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    await body(`http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, asked);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function readAll(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

const TOPICS = [/money|price|invoice/gi, /water|river|sea/gi, /\w/g];

function vectorOf(text: string): number[] {
  return [...TOPICS.map((topic, at) => (text.match(topic)?.length ?? 0) * (at === 2 ? 0.001 : 1)), 0.01];
}

test(
  "[A51, R431] texts go to the endpoint in batches of 96 with model and key, and secrets and ignored files never",
  inProject(
    {
      ".gitignore": "local/\n",
      "local/notes.md": "river of money\n",
      ".env": "PRICE=1\n",
      "keys/server.pem": "money\n",
      "shop.ts": "export const invoice = price * 2;\n",
      "coast.ts": "export const sea = river + water;\n",
      ...Object.fromEntries(
        Array.from({ length: 120 }, (_, at) => [`many/${at}.txt`, `file number ${at}\n`]),
      ),
    },
    async ({ workspace, write }) => {
      await withEndpoint(
        () => undefined,
        async (url, asked) => {
          const embedder = endpointEmbedder({ url, model: "small", key: "secret-key" });
          await using index = await openIndex(workspace, { embedder });
          await index.sync();
          expect(
            asked.every(
              ({ path, key, model }) =>
                path === "/v1/embeddings" && key === "Bearer secret-key" && model === "small",
            ),
          ).toBe(true);
          expect(Math.max(...asked.map(({ input }) => input.length))).toBeLessThanOrEqual(96);
          const sent = asked.flatMap(({ input }) => input).join("");
          expect(sent).toContain("invoice");
          for (const never of ["river of money", "PRICE", "\nmoney"]) expect(sent).not.toContain(never);
          // found by words all the same
          expect((await index.search("notes river", { mode: "text" })).hits[0]).toMatchObject({
            path: "local/notes.md",
          });
          const before = asked.length;
          await index.sync();
          expect(asked).toHaveLength(before);
          const { hits, embedder: name } = await index.search("what has to do with money", {
            mode: "vector",
            k: 1,
          });
          expect(hits).toMatchObject([{ path: "shop.ts" }]);
          expect(name).toBe(embedder.name);
          write("coast.ts", "export const lake = sea;\n");
          await workspace.checkpoint();
          await index.sync();
          expect(asked.at(-1)!.input).toEqual(["export const lake = sea;\n"]);
        },
      );
    },
  ),
);

test(
  "a busy endpoint is asked again, a refusal is not, and words find without it",
  inProject({ "a.ts": "export const river = 1;\n" }, async ({ workspace }) => {
    await withEndpoint(
      (_, number) => (number <= 2 ? { status: 503 } : undefined),
      async (url, asked) => {
        await using index = await openIndex(workspace, { embedder: endpointEmbedder({ url, model: "m" }) });
        await index.sync();
        expect(asked).toHaveLength(3);
      },
    );
    await withEndpoint(
      () => ({ status: 401 }),
      async (url, asked) => {
        await using index = await openIndex(workspace, {
          embedder: endpointEmbedder({ url, model: "other" }),
        });
        await expect(index.sync()).rejects.toThrow("answered 401");
        expect(asked).toHaveLength(1);
        expect((await index.search("river")).hits).toMatchObject([{ path: "a.ts" }]);
      },
    );
    await withEndpoint(
      () => ({ body: { data: [] } }),
      async (url) => {
        await using index = await openIndex(workspace, {
          embedder: endpointEmbedder({ url, model: "third" }),
        });
        await expect(index.sync()).rejects.toThrow("one vector for each text");
      },
    );
  }),
);

test(
  "[R2434] an endpoint that does not answer holds up neither a search nor the end: words answer",
  inProject({ "a.ts": "export const river = 1;\n" }, async ({ workspace, write }) => {
    let isSilent = false;
    await withEndpoint(
      () => (isSilent ? "silent" : undefined),
      async (url) => {
        const options = { embedder: endpointEmbedder({ url, model: "m" }) };
        await using index = await openIndex(workspace, options);
        await index.sync();
        isSilent = true;
        write("b.ts", "export const bridge = river;\n");
        await index.sync({ vectorsWithinMs: 50 });
        // in the background, too, it is in the way of nothing
        index.later(() => index.sync({ vectorsWithinMs: 0 }));
        await index.idle();
        expect((await index.search("bridge")).hits[0]).toMatchObject({ path: "b.ts" });
        isSilent = false;
      },
    );
  }),
);

const answers: readonly [string, unknown][] = [
  ["fewer vectors", { data: [] }],
  ["a place that is not there", { data: [{ index: 7, embedding: [1, 0] }] }],
  ["words in a vector", { data: [{ index: 0, embedding: ["NaN", null] }] }],
  ["an empty vector", { data: [{ index: 0, embedding: [] }] }],
  ["no data", { error: "quota" }],
  ["no object", "busy"],
];

test.each(answers)("[R2434] an answer with %s is refused, stored nowhere, and words find", (_, body) =>
  inProject({ "a.ts": "export const river = 1;\n" }, async ({ workspace }) => {
    await withEndpoint(
      () => ({ body }),
      async (url, asked) => {
        await using index = await openIndex(workspace, { embedder: endpointEmbedder({ url, model: "m" }) });
        await expect(index.sync()).rejects.toThrow(/^The endpoint's answer has /);
        expect(asked).toHaveLength(1);
        expect((await index.search("river")).hits).toMatchObject([{ path: "a.ts" }]);
        expect((await index.search("river", { mode: "vector" })).hits).toEqual([]);
      },
    );
  })(),
);

test(
  "[R2434] an endpoint that limits requests is asked again; one whose vectors have another length is asked for all again",
  inProject(
    { "a.ts": "export const river = 1;\n", "b.ts": "export const sea = 2;\n" },
    async ({ workspace }) => {
      const lengthOf = (length: number) => (asked: Asked) => ({
        body: {
          data: asked.input.map((text, index) => ({
            index,
            embedding: [...vectorOf(text), ...Array.from({ length: length - 4 }, () => 0)],
          })),
        },
      });
      let answer: Parameters<typeof withEndpoint>[0] = (asked, number) =>
        number === 1 ? { status: 429 } : lengthOf(4)(asked);
      await withEndpoint(
        (asked, number) => answer(asked, number),
        async (url, asked) => {
          const open = () => openIndex(workspace, { embedder: endpointEmbedder({ url, model: "m" }) });
          await (async () => {
            await using index = await open();
            await index.sync();
          })();
          expect(asked).toHaveLength(2);
          answer = lengthOf(6);
          await using index = await open();
          const found = async () =>
            (await index.search("water", { mode: "vector" })).hits.map(({ path }) => path).sort();
          expect(await found()).toEqual([]);
          await index.sync();
          expect(await found()).toEqual(["a.ts", "b.ts"]);
        },
      );
    },
  ),
);
