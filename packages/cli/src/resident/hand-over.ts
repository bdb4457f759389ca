/**
 * A short command hands itself over to the resident process, which has the engine loaded and the files in view: it sends
 * its words and what surrounds it, and writes what comes back. Without a process that can run it, it runs here.
 */
import { belayHome } from "../call/belay-home.ts";
import { optionValue } from "../call/command-line.ts";
import { currentDirectory } from "../output/belay-at.ts";
import { ownTerminal, prepareStreams, writeTexts, type Terminal } from "../output/streams.ts";
import type { SentText } from "../output/pager.ts";
import { askResident } from "./ask-resident.ts";

/** What the resident process needs to run a command as its caller would. */
export interface HandedCommand {
  readonly argv: readonly string[];
  readonly directory: string;
  readonly environment: NodeJS.ProcessEnv;
  readonly terminal: Terminal;
}

/** What a handed command said, and whether people read it page by page; null: its caller has to run it. */
export type HandedAnswer = {
  readonly exit: number;
  readonly texts: readonly SentText[];
  readonly paged: boolean;
} | null;

/** The address of handed commands in the resident process. */
export const HAND_OVER_PATH = "/api/command";

/** The exit code; undefined when the command has to run in this process. `start`: a missing process is started. */
export async function handOver(
  argv: readonly string[],
  { start, variables }: { readonly start: boolean; readonly variables: readonly string[] },
): Promise<number | undefined> {
  const directory = currentDirectory();
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => variables.some((beginning) => name.startsWith(beginning))),
  );
  const body = () => {
    const command: HandedCommand = { argv, directory, environment, terminal: ownTerminal() };
    return JSON.stringify(command);
  };
  const answer = await askResident(
    belayHome(optionValue(argv, "home"), { directory, environment: process.env }),
    (client) => {
      const sent = client.send({ method: "POST", path: HAND_OVER_PATH, body: body() });
      // once the request is on its way
      setImmediate(prepareStreams);
      return sent as Promise<HandedAnswer>;
    },
    { start, directory },
  );
  if (answer === undefined || answer === null) return undefined;
  writeTexts(answer.texts, answer);
  return answer.exit;
}
