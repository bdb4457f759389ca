/** A question that one key answers, without Enter. */

/** What was typed before the question stands is not an answer to it; it has arrived by then. */
const SETTLE_MS = 100;

/** The key that was pressed; undefined where the person left (Ctrl-C, Ctrl-D, or the terminal is gone). */
export async function askKey(question: string): Promise<string | undefined> {
  const { stdin, stdout } = process;
  stdin.setRawMode(true);
  stdin.resume();
  try {
    await new Promise((settled) => setTimeout(settled, SETTLE_MS));
    while (stdin.read() !== null);
    stdout.write(question);
    const key = await nextKey(stdin);
    stdout.write(`${key ?? ""}\n`);
    return key;
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
}

const LEAVING = new Set(["\u0003", "\u0004"]);

/** Text that comes in one piece was pasted, and is not a key; Enter after a letter belongs to it. */
function nextKey(stdin: NodeJS.ReadStream): Promise<string | undefined> {
  return new Promise((resolve) => {
    const end = (key: string | undefined) => {
      stdin.off("data", hear);
      stdin.off("end", left);
      resolve(key);
    };
    const left = () => end(undefined);
    const hear = (data: Buffer) => {
      const text = data.toString("utf8").replace(/[\r\n]+$/, "");
      if (LEAVING.has(text)) left();
      else if (/^[\x20-\x7e]$/.test(text)) end(text);
    };
    stdin.on("data", hear);
    stdin.once("end", left);
  });
}
