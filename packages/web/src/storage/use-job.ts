/** Work that asks a remote's server: started, asked about until it is over, and told. */
import { useBelay, useToast } from "@belay/react";
import { useEffect, useState } from "react";

type Verb = "sync" | "verify";

const ASK_MS = 500;
const DONE = { sync: "is as it is here", verify: "is sound: every line and its signatures" } as const;

/** One piece of work at a time with one remote. */
export function useJob(remote: string) {
  const { client, workspace } = useBelay();
  const toast = useToast();
  const [job, setJob] = useState<{ readonly id: string; readonly verb: Verb; readonly share?: number }>();
  useEffect(() => {
    if (job === undefined) return;
    const timer = setTimeout(() => {
      client.call("GET /api/jobs/:id", { params: { id: job.id } }).then(
        ({ job: { state, progress, error } }) => {
          if (state === "running") {
            const share = progress
              ? Math.floor((100 * progress.done) / Math.max(1, progress.total))
              : undefined;
            return setJob({ id: job.id, verb: job.verb, ...(share !== undefined && { share }) });
          }
          setJob(undefined);
          toast(
            error === null
              ? { text: `${remote} ${DONE[job.verb]}.` }
              : { text: `${error.message} ${error.hint}`, isFailure: true },
          );
        },
        (error: unknown) => {
          setJob(undefined);
          toast({ text: (error as Error).message, isFailure: true });
        },
      );
    }, ASK_MS);
    return () => clearTimeout(timer);
  }, [client, job, remote, toast]);
  const start = (verb: Verb) => {
    if (job !== undefined) return;
    const input = { params: { name: remote }, query: { workspace } };
    const asked =
      verb === "sync"
        ? client.call("POST /api/remotes/:name/sync", input)
        : client.call("POST /api/remotes/:name/verify", input);
    asked.then(
      (answer) => setJob({ id: answer.job.id, verb }),
      (error: unknown) => toast({ text: (error as Error).message, isFailure: true }),
    );
  };
  const share = job?.share === undefined ? "…" : ` ${job.share} %`;
  return {
    running: job?.verb,
    progress: job?.verb === "verify" ? `Verifying${share}` : `Sending${share}`,
    start,
  };
}
