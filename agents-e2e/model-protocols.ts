/** The four ways in which the clients talk to a model, as much of each as a stub needs. */
import type { Turn } from "./model-stub.ts";

export type Body = Record<string, any>;
/** The user's words, or a tool's result. */
export type Said = "result" | { text: string };

interface Protocol {
  /** The user's words and the tools' results, in order. */
  read(body: Body): Said[];
  /** The answer: content type and text. */
  write(turn: Turn, body: Body): [type: string, text: string];
}

export function protocolOf(url: string): Protocol | undefined {
  const path = url.replace(/\?.*$/, "");
  return PROTOCOLS.find(([end]) => end.test(path))?.[1];
}

const messages: Protocol = {
  read: (body) => list(body["messages"]).flatMap(({ content }) => parts(content, "tool_result")),
  write: (turn, { model }) => {
    const usage = { input_tokens: 1, output_tokens: 1 };
    const message = { id: "msg_1", type: "message", role: "assistant", model, content: [], usage };
    const [block, delta, reason] =
      "text" in turn
        ? [{ type: "text", text: "" }, { type: "text_delta", text: turn.text }, "end_turn"]
        : [
            { type: "tool_use", id: `toolu_${turn.id}`, name: turn.call.name, input: {} },
            { type: "input_json_delta", partial_json: JSON.stringify(turn.call.input) },
            "tool_use",
          ];
    return events([
      { type: "message_start", message },
      { type: "content_block_start", index: 0, content_block: block },
      { type: "content_block_delta", index: 0, delta },
      { type: "content_block_stop", index: 0 },
      { type: "message_delta", delta: { stop_reason: reason, stop_sequence: null }, usage },
      { type: "message_stop" },
    ]);
  },
};

const responses: Protocol = {
  read: (body) =>
    list(body["input"]).flatMap((item) =>
      String(item["type"]).endsWith("_call_output") ? ["result" as const] : parts(item["content"]),
    ),
  write: (turn) => {
    const id = "text" in turn ? "message" : turn.id;
    const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
    return events([
      { type: "response.created", response: { id } },
      { type: "response.output_item.done", output_index: 0, item: responseItem(turn) },
      { type: "response.completed", response: { id, usage } },
    ]);
  },
};

function responseItem(turn: Turn): object {
  if ("text" in turn)
    return { type: "message", role: "assistant", content: [{ type: "output_text", text: turn.text }] };
  const { name, input } = turn.call;
  return typeof input === "string"
    ? { type: "custom_tool_call", call_id: turn.id, name, input }
    : { type: "function_call", call_id: turn.id, name, arguments: JSON.stringify(input) };
}

const generateContent: Protocol = {
  read: (body) =>
    list(body["contents"]).flatMap((content) =>
      list(content["parts"]).flatMap((part) =>
        "functionResponse" in part ? ["result" as const] : parts(part["text"]),
      ),
    ),
  write: (turn) => {
    const part = "text" in turn ? turn : { functionCall: { name: turn.call.name, args: turn.call.input } };
    const candidate = { index: 0, content: { role: "model", parts: [part] }, finishReason: "STOP" };
    const usageMetadata = { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 };
    return events([{ candidates: [candidate], usageMetadata }]);
  },
};

const chatCompletions: Protocol = {
  read: (body) =>
    list(body["messages"]).flatMap(({ role, content }) =>
      role === "tool" ? ["result" as const] : role === "user" ? parts(content) : [],
    ),
  write: (turn, { model }) => {
    const chunk = { id: "chat_1", object: "chat.completion.chunk", created: 1, model };
    const choice = (delta: object, finish_reason: string | null) => ({
      ...chunk,
      choices: [{ index: 0, delta, finish_reason }],
    });
    const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
    if ("text" in turn)
      return events([
        choice({ role: "assistant", content: turn.text }, null),
        { ...choice({}, "stop"), usage },
      ]);
    const call = { name: turn.call.name, arguments: JSON.stringify(turn.call.input) };
    const tool_calls = [{ index: 0, id: turn.id, type: "function", function: call }];
    return events([choice({ role: "assistant", tool_calls }, null), { ...choice({}, "tool_calls"), usage }]);
  },
};

const PROTOCOLS: readonly (readonly [end: RegExp, Protocol])[] = [
  [/\/v1\/messages$/, messages],
  [/\/responses$/, responses],
  [/:streamGenerateContent$/, generateContent],
  [/\/chat\/completions$/, chatCompletions],
];

function parts(content: unknown, result?: string): Said[] {
  if (typeof content === "string") return [{ text: content }];
  return list(content).flatMap(({ type, text }): Said[] => {
    if (result !== undefined && type === result) return ["result"];
    return typeof text === "string" ? [{ text }] : [];
  });
}

function list(value: unknown): Body[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === "object" && one !== null) : [];
}

function events(sent: readonly Body[]): [string, string] {
  const lines = sent.map(
    (event) => `${event["type"] ? `event: ${event["type"]}\n` : ""}data: ${JSON.stringify(event)}\n\n`,
  );
  return ["text/event-stream", lines.join("")];
}
