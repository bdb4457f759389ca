/**
 * The lines of one hunk. What draws them in colour is loaded on first use; where it cannot be loaded, because the server
 * is gone, or cannot draw them, the same lines stand there as plain text and everything around them works on.
 */
import { Component, lazy, Suspense, type ReactNode } from "react";
import type { CodeLook } from "./code.tsx";

const load = () => lazy(() => import("./code.tsx"));
let Code = load();

/** What to draw. */
export interface CodeLinesProps {
  readonly patch: string;
  readonly look: CodeLook;
  /** Keeps the place of the lines until they are there. */
  readonly height?: number;
}

/** The lines of a patch that has one hunk, without its header. */
export function CodeLines({ patch, look, height }: CodeLinesProps): ReactNode {
  return (
    <Plainly patch={patch}>
      <Suspense fallback={height === undefined ? null : <div style={{ height }} />}>
        <Code patch={patch} look={look} />
      </Suspense>
    </Plainly>
  );
}

/** Shows the patch as text when what is inside fails. */
class Plainly extends Component<
  { readonly patch: string; readonly children: ReactNode },
  { readonly hasFailed: boolean }
> {
  override readonly state = { hasFailed: false };

  static getDerivedStateFromError(): { readonly hasFailed: boolean } {
    return { hasFailed: true };
  }

  override componentDidCatch(): void {
    // the next lines try again: a failed load is remembered otherwise
    Code = load();
  }

  override render(): ReactNode {
    const { patch, children } = this.props;
    if (!this.state.hasFailed) return children;
    const lines = patch.slice(patch.indexOf("\n@@ ") + 1).split("\n");
    return <pre className="b-plainlines">{lines.slice(1).join("\n").trimEnd()}</pre>;
  }
}
