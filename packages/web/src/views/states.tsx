/** What the page says where there is nothing to show, or no key. */
import { ClientError } from "@belay/protocol/client";
import { quantity, useBelay, useLoaded, visible, type History } from "@belay/react";
import { useEffect, useState, type ReactNode } from "react";
import { go, timelinePath } from "../address.ts";
import { Logo } from "../shell/project-menu.tsx";
import { PAGE } from "../words.ts";

const LOADING_MS = 150;

/** An empty list: still loading, nothing yet, or nothing that matches. */
export function NothingHere({
  history,
  isFiltered,
  q,
}: {
  readonly history: History;
  readonly isFiltered: boolean;
  readonly q: string;
}): ReactNode {
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setLate(true), LOADING_MS);
    return () => clearTimeout(timer);
  }, []);
  if (history.error !== undefined) return <p className="b-empty">{visible(history.error.message)}</p>;
  if (history.isLoading)
    return (
      <div className="b-rows" aria-busy="true">
        {isLate
          ? Array.from({ length: 8 }, (_, index) => <div key={index} className="b-turn b-skeleton" />)
          : null}
      </div>
    );
  if (isFiltered) return <NoMatch q={q} />;
  return (
    <div className="b-empty">
      <p className="b-strong">{PAGE.emptyProject}</p>
      <p>{PAGE.emptyHow}</p>
    </div>
  );
}

/** What was searched, and how much there is without the filter. */
function NoMatch({ q }: { readonly q: string }): ReactNode {
  const { client, workspace } = useBelay();
  const { value } = useLoaded(`all rows ${workspace} !`, () =>
    client.call("GET /api/history", { query: { workspace, limit: 1 } }),
  );
  return (
    <div className="b-empty">
      <p>{q === "" ? "Nothing happened in this thread yet." : `Nothing matches “${visible(q)}”.`}</p>
      {value?.total ? (
        <p>
          Without the filter there {value.total === 1 ? "is" : "are"} {quantity(value.total, "row")}.{" "}
          <button type="button" className="b-btn b-s" onClick={() => go(timelinePath(workspace))}>
            Show all
          </button>
        </p>
      ) : null}
    </div>
  );
}

/** The whole page where there is no key. */
export function Ended({ reason }: { readonly reason: string }): ReactNode {
  return (
    <main className="b-whole">
      <Logo />
      <h1>{PAGE.openFromTerminal}</h1>
      <pre className="b-mono">belay ui</pre>
      {reason === "" ? null : <p className="b-muted">{visible(reason)}</p>}
    </main>
  );
}

/** The whole page where the server cannot be asked for the projects. */
export function NoAnswerHere({ message }: { readonly message: string }): ReactNode {
  return (
    <main className="b-whole">
      <Logo />
      <h1>{visible(message)}</h1>
      <button type="button" className="b-btn" onClick={() => location.reload()}>
        Try again
      </button>
    </main>
  );
}

/** The hint of a store that a newer Belay wrote; undefined where that is not what is wrong. */
export function newerHint(error: Error | undefined): string | undefined {
  return error instanceof ClientError && error.code === "STORE_NEWER" ? error.hint : undefined;
}

/** [R1935] The whole page where a newer Belay wrote the store. */
export function Newer({ hint }: { readonly hint: string }): ReactNode {
  return (
    <main className="b-whole">
      <Logo />
      <h1>A newer Belay wrote this project’s store.</h1>
      <p>{visible(hint)}</p>
      <p className="b-muted">Nothing was touched: neither the store nor your files.</p>
    </main>
  );
}

/** The whole page where no project is protected. */
export function NoProject(): ReactNode {
  return (
    <main className="b-whole">
      <Logo />
      <h1>{PAGE.noProject}</h1>
      <p className="b-muted">{PAGE.protectOne}</p>
      <pre className="b-mono">belay init</pre>
    </main>
  );
}
