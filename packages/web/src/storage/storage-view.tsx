/** The storage of a project. */
import { StoragePanel, useBelay, useStatus, useThreads, useVersion, VerifyButton } from "@belay/react";
import type { ReactNode } from "react";
import { go, viewPath } from "../address.ts";
import { Shell } from "../shell/shell.tsx";
import { PAGE } from "../words.ts";
import { RemotesCard } from "./remotes-card.tsx";

/** The page's view of what the store takes. */
export function StorageView(): ReactNode {
  const { workspace } = useBelay();
  const version = useVersion();
  const status = useStatus(version);
  const threads = useThreads(version);
  return (
    <Shell
      workspace={workspace}
      status={status}
      threads={threads}
      view="storage"
      title={PAGE.storage}
      top={
        <>
          <span className="b-strong">{PAGE.storage}</span>
          <span className="b-grow" />
          <VerifyButton />
        </>
      }
    >
      <main className="b-page" tabIndex={0}>
        <StoragePanel onSettings={() => go(viewPath(workspace, "settings"))}>
          {status === undefined ? null : <RemotesCard status={status} />}
        </StoragePanel>
      </main>
    </Shell>
  );
}
