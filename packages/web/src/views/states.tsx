/** What the page says where there is nothing to show, or no key. */
import { visible, type History } from "@belay/react";
import { useEffect, useState, type ReactNode } from "react";
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
  if (isFiltered)
    return (
      <p className="b-empty">
        {q === "" ? "Nothing happened in this thread yet." : `Nothing matches “${visible(q)}”.`}
      </p>
    );
  return (
    <div className="b-empty">
      <p className="b-strong">{PAGE.emptyProject}</p>
      <p>{PAGE.emptyHow}</p>
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
