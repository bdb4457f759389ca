/** A stand-in for an agent: it does what it is told, and reports its work to Belay as an agent's hooks do. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, resolve, sep } from "node:path";
import { BelayClient, type Transport } from "@belay/protocol/client";

/** One message to answer. */
export interface Asked {
  readonly conversation: string;
  readonly id: string;
  readonly text: string;
}

/** Where the agent works and whom it tells. */
export interface Workplace {
  readonly project: string;
  readonly transport: Transport;
}

/** Answers in pieces, doing the work in between. It goes on where Belay does not answer. */
export async function* answer({ project, transport }: Workplace, asked: Asked): AsyncGenerator<string> {
  const client = new BelayClient(transport);
  const thread = await told(async () => {
    const { threads } = await client.call("GET /api/threads", { query: { workspace: project } });
    return threads.find(({ externalId }) => externalId === asked.conversation)?.id;
  });
  for (const [index, words] of asked.text.split(";").entries()) {
    const [verb = "", path = "", ...rest] = words.trim().split(" ");
    if (verb === "fail") throw new Error("the agent failed, as it was told");
    const isEdit = (verb === "write" || verb === "delete") && path !== "";
    yield isEdit ? `${verb === "write" ? "Writing" : "Deleting"} ${path}. ` : `You said: ${words.trim()}. `;
    if (!isEdit) continue;
    const report = (phase: "before" | "after") =>
      thread &&
      told(() =>
        client.call("POST /api/threads/:id/tools", {
          params: { id: thread },
          body: { phase, tool: "Write", toolUseId: `${asked.id}-${index}`, paths: [path] },
        }),
      );
    await report("before");
    edit(inside(project, path), verb === "write" ? `${rest.join(" ")}\n` : undefined);
    await report("after");
  }
  yield "Done.";
  if (thread) await told(() => client.call("POST /api/threads/:id/stop", { params: { id: thread } }));
}

/** Work goes on, unprotected, where Belay does not answer; the chat shows that its checkpoint failed. */
async function told<Answer>(call: () => Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call();
  } catch (error) {
    console.error(`Belay was not told: ${(error as Error).message}`);
    return undefined;
  }
}

function inside(project: string, path: string): string {
  const file = resolve(project, path);
  if (!file.startsWith(project + sep)) throw new Error(`${path} is outside of the project`);
  return join(file);
}

function edit(file: string, text: string | undefined): void {
  if (text === undefined) return rmSync(file, { force: true });
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
