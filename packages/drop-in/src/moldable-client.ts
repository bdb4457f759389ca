/** Moldable's `invoke` over HTTP, for programs that cannot hold the workspace themselves. Imports nothing. */

/** Where the resident process answers, and with which token. */
export interface InvokeOptions {
  /** As `belay start --json` prints it. */
  url: string;
  token: string;
  fetch?: typeof fetch;
}

/** Calls a command of the shell by name, with arguments in camelCase. */
export type Invoke = <Result>(command: string, args: Record<string, unknown>) => Promise<Result>;

/** Makes the `invoke` of a running process. It rejects with an `Error` whose message is the reason. */
export function createInvoke({ url, token, fetch: send = fetch }: InvokeOptions): Invoke {
  return async <Result>(command: string, args: Record<string, unknown>): Promise<Result> => {
    const response = await send(`${url}/api/moldable/${encodeURIComponent(command)}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(args),
    });
    const answer = (await response.json()) as {
      result?: Result;
      error?: { code: string; message: string };
    };
    if (answer.error === undefined) return answer.result as Result;
    throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
  };
}
