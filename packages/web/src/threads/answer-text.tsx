/** An agent's answer as text: code in blocks and in line, addresses as links. Nothing of it is ever markup. */
import { visible } from "@belay/react";
import type { ReactNode } from "react";

/** The text of an answer. */
export function AnswerText({ text }: { readonly text: string }): ReactNode {
  return (
    <div className="b-text">
      {text.split(/^(```[^\n]*\n[\s\S]*?^```[^\S\n]*$)/m).map((part, index) =>
        part.startsWith("```") ? (
          <pre key={index} className="b-mono b-code" tabIndex={0}>
            {visible(part.replace(/^```[^\n]*\n/, "").replace(/\n?```\s*$/, ""))}
          </pre>
        ) : (
          <span key={index}>{part.split(/(`[^`\n]+`|https?:\/\/[^\s<>"'`)\]]+)/).map(pieceOf)}</span>
        ),
      )}
    </div>
  );
}

function pieceOf(piece: string, index: number): ReactNode {
  if (/^`.+`$/.test(piece))
    return (
      <code key={index} className="b-mono">
        {visible(piece.slice(1, -1))}
      </code>
    );
  if (/^https?:\/\//.test(piece))
    return (
      <a key={index} href={piece} target="_blank" rel="noopener noreferrer">
        {visible(piece)}
      </a>
    );
  return visible(piece);
}
