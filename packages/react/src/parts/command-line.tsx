/** A line for the terminal, to copy. */
import type { ReactNode } from "react";
import { visible } from "../words.ts";
import { copyText } from "./copy.ts";
import { Icon } from "./icon.tsx";
import { useToast } from "./toasts.tsx";

/** What the line does, the line, and a button that copies it. */
export function CommandLine({ words, line }: { readonly words: string; readonly line: string }): ReactNode {
  const toast = useToast();
  return (
    <div className="b-row b-command">
      <span className="b-small b-muted">{words}</span>
      <code className="b-mono b-cut">{visible(line)}</code>
      <button
        type="button"
        className="b-btn b-s b-quiet b-icon"
        aria-label={`Copy ${visible(line)}`}
        onClick={() => void copyText(line).then(() => toast({ text: "The line was copied." }))}
      >
        <Icon name="copy" />
      </button>
    </div>
  );
}
