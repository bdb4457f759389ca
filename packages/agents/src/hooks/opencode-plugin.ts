/**
 * The plugin that opencode loads: plain JavaScript for Bun, which passes events on. It never throws: an error in a hook of a
 * plugin stops the tool.
 *
 * It lives as long as opencode, so it keeps a connection to the resident process: an event costs one request. Anything
 * unusual goes through `belay-hook`, under the same name, so that it counts once. opencode waits for the checkpoint
 * before a tool [N1]; it does not wait for the one after, but no later event overtakes that.
 */
import { DEADLINES, MOST_EVENT_BYTES } from "../events/event-journey.ts";
import { CLIENT_VARIABLE } from "./client-process.ts";
import { HOOK_MARK, type Place } from "../settings/hook-file.ts";

/** The text of opencode's plugin. */
export function opencodePlugin({ scope, belayHome }: Place): string {
  const home =
    scope === "shared" ? 'process.env.BELAY_HOME || join(homedir(), ".belay")' : JSON.stringify(belayHome);
  return `// Belay's plugin for opencode: checkpoints before prompts and tools. Written by belay.
import { spawn } from "node:child_process";
import { existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { connect } from "node:net";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

const HOME = ${home};
const HOOK = join(HOME, "${HOOK_MARK}");
${WAYS}
export const Belay = async ({ directory }) => {
  // Ends of tools that Belay has not confirmed yet.
  const ending = new Set();
  const send = async (belay_event, input, output, id) => {
    try {
      if (!existsSync(HOOK) || isUnprotected(directory)) return {};
      await Promise.all(ending);
      const event = JSON.stringify({ belay_event, directory, input, output, id });
      const sentAs = Date.now() + "-" + process.pid + ++sent;
      const { answer, wasAsked } = await ask(event, directory, sentAs);
      return JSON.parse(answer ?? (await runHook(event, directory, wasAsked ? sentAs : undefined)));
    } catch {
      return {};
    }
  };

${HOOKS}};
`;
}

const { PLUGIN_MS, ASK_MS, HOOK_MS, WORK_MS } = DEADLINES;

/** How an event reaches Belay: the states `looking` and `asking` of its journey, then `belay-hook`. */
const WAYS = `const PLUGIN_MS = ${PLUGIN_MS};
const ASK_MS = ${ASK_MS};
// what is left for belay-hook
const AFTER_ASKING_MS = ${HOOK_MS - ASK_MS};
const WORK_MS = ${WORK_MS};
const MOST_CHARACTERS = ${MOST_EVENT_BYTES / 2};

// Connections to the resident process that wait for an event.
const idle = [];
const CLIENT = thisProcess();
let sent = 0;

/** opencode's own process, as belay-hook would find it. */
function thisProcess() {
  try {
    const stat = readFileSync("/proc/self/stat", "latin1");
    return process.pid + " " + stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19];
  } catch {
    return "";
  }
}

/** Certain that no protected directory is concerned; in doubt belay-hook finds out. */
function isUnprotected(directory) {
  try {
    const place = realpathSync(directory);
    const roots = readFileSync(join(HOME, "roots"), "latin1").split("\\0").slice(0, -1);
    const paths = roots.map((root) => Buffer.from(root.slice(root.indexOf(" ") + 1), "latin1").toString("utf8"));
    if (paths.some((path) => (place + "/").startsWith(path + "/") || !existsSync(path))) return false;
    for (let at = place; at !== dirname(at); at = dirname(at))
      if (statSync(join(at, ".git"), { throwIfNoEntry: false })?.isFile()) return false;
    return true;
  } catch {
    return false;
  }
}

/** The resident process, if it is this user's and of the build that belay-hook is of. */
function residentSocket() {
  try {
    const run = join(HOME, "run");
    const { uid, mode } = statSync(run);
    const [, build] = /^build=(.+)$/m.exec(readFileSync(HOOK + ".facts", "utf8")) ?? [];
    if (uid !== process.getuid() || mode & 0o077 || !build || existsSync(join(HOME, "agents/overdue"))) return undefined;
    const isOlder = statSync(build).mtimeMs > statSync(join(run, "resident.json")).mtimeMs;
    const socket = join(run, "resident.sock");
    return isOlder || !existsSync(socket) ? undefined : socket;
  } catch {
    return undefined;
  }
}

/** Without an answer when there was none in time, or no resident process. */
async function ask(event, cwd, id) {
  const path = event.length > MOST_CHARACTERS ? undefined : residentSocket();
  if (path === undefined) return { wasAsked: false };
  const environment = { BELAY_HOME: HOME, ${CLIENT_VARIABLE}: CLIENT };
  const body = JSON.stringify({ input: event, cwd, environment, wait: { id, deadline: Date.now() + WORK_MS } });
  const until = Date.now() + ASK_MS;
  const kept = idle.pop();
  // a kept connection may have ended meanwhile: the event is sent again, and counts once under its name
  const told = (kept && (await post(kept, body, until))) ?? (await post(openLine(path), body, until));
  try {
    return { answer: told?.status === 200 ? JSON.parse(told.text).answer : undefined, wasAsked: true };
  } catch {
    return { wasAsked: true };
  }
}

/**
 * Undefined where there is no answer in time. opencode's loop is busy, and each turn of it is waited for: what takes
 * node:http several turns takes one here.
 */
function post(line, body, until) {
  return new Promise((done) => {
    line.pieces = [];
    const timer = setTimeout(() => {
      line.end();
      line.socket.destroy();
    }, until - Date.now());
    line.end = (answer) => {
      clearTimeout(timer);
      line.end = () => undefined;
      if (answer !== undefined) idle.push(line);
      done(answer);
    };
    const head = ["POST /api/hooks/opencode HTTP/1.1", "host: belay", "content-type: application/json"];
    line.socket.write([...head, "content-length: " + Buffer.byteLength(body), "", body].join("\\r\\n"));
  });
}

/** A connection for one event after the other. It keeps nothing alive: while an event waits, its timer does. */
function openLine(path) {
  const socket = connect(path);
  const line = { socket, pieces: [], end: () => undefined };
  socket.unref();
  socket.on("data", (piece) => {
    line.pieces.push(piece);
    const answer = parseAnswer(Buffer.concat(line.pieces));
    if (answer !== undefined) line.end(answer);
  });
  socket.on("error", () => undefined);
  socket.on("close", () => {
    if (idle.includes(line)) idle.splice(idle.indexOf(line), 1);
    line.end();
  });
  return line;
}

/** Undefined while it is not whole: the resident process tells the length of each answer to a hook. */
function parseAnswer(bytes) {
  const end = bytes.indexOf("\\r\\n\\r\\n");
  const head = end < 0 ? "" : bytes.toString("latin1", 0, end);
  const length = Number(/^content-length: (\\d+)$/im.exec(head)?.[1]);
  if (!(bytes.length >= end + 4 + length)) return undefined;
  return { status: Number(head.split(" ")[1]), text: bytes.toString("utf8", end + 4) };
}

function runHook(event, cwd, id) {
  return new Promise((done) => {
    const asked = id && { BELAY_EVENT: id, BELAY_WAIT_MS: String(AFTER_ASKING_MS) };
    const env = { ...process.env, ...asked };
    const child = spawn(HOOK, ["opencode"], { cwd, env, stdio: ["pipe", "pipe", "ignore"] });
    let text = "";
    const timer = setTimeout(() => done("{}"), PLUGIN_MS);
    child.on("error", () => done("{}"));
    child.stdin.on("error", () => undefined);
    child.stdout.on("data", (part) => (text += part));
    child.on("close", () => {
      clearTimeout(timer);
      done(text);
    });
    child.stdin.end(event);
  });
}
`;

/** The part that knows opencode's events. */
const HOOKS = `  // What the model said last in each conversation: its end is announced without it.
  const answers = new Map();

  return {
    "chat.message": async (input, output) => {
      const { context } = await send("chat.message", input, { message: output?.message, parts: output?.parts });
      if (!context || !Array.isArray(output?.parts)) return;
      const { id: messageID, sessionID } = output.message ?? {};
      const id = "prt_belay" + Date.now().toString(36);
      output.parts.push({ id, messageID, sessionID, type: "text", synthetic: true, text: context });
    },
    "tool.execute.before": async (input, output) => {
      await send("tool.execute.before", input, { args: output?.args });
    },
    "tool.execute.after": async (input, output) => {
      const sending = send("tool.execute.after", input, { metadata: { exit: output?.metadata?.exit } });
      ending.add(sending);
      void sending.finally(() => ending.delete(sending));
    },
    event: async ({ event }) => {
      const { part, sessionID } = event?.properties ?? {};
      // The user's own words come without an end.
      const isSaid = event?.type === "message.part.updated" && part?.type === "text" && part.time?.end;
      if (isSaid) answers.set(part.sessionID, part.text);
      if (event?.type !== "session.created" && event?.type !== "session.idle") return;
      const answer = answers.get(sessionID);
      answers.delete(sessionID);
      await send(event.type, event.properties, { answer }, event.id);
    },
  };
`;
