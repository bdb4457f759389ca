/** Icons, badges of agents, and the small signs that rows are made of. */
import { createElement, type ReactNode } from "react";
import { ICONS, type IconName } from "../icons.ts";
import { agentName, visible } from "../words.ts";

/** An icon in the colour of its text; a reader hears the words beside it. */
export function Icon({ name, small }: { readonly name: IconName; readonly small?: boolean }): ReactNode {
  const drawing: { readonly stroke?: string; readonly shapes: readonly (readonly [string, object])[] } =
    ICONS[name];
  const look =
    drawing.stroke === undefined
      ? { fill: "currentColor" }
      : {
          fill: "none",
          stroke: "currentColor",
          strokeWidth: drawing.stroke,
          strokeLinecap: "round",
          strokeLinejoin: "round",
        };
  return (
    <svg className={small ? "b-i b-s" : "b-i"} viewBox="0 0 16 16" aria-hidden="true" {...(look as object)}>
      {drawing.shapes.map(([tag, attributes], index) => createElement(tag, { key: index, ...attributes }))}
    </svg>
  );
}

const KNOWN: Readonly<Record<string, readonly [letter: string, colour: string]>> = {
  "claude-code": ["C", "b-claude"],
  codex: ["X", "b-codex"],
  gemini: ["G", "b-gemini"],
  "gemini-cli": ["G", "b-gemini"],
  copilot: ["P", "b-copilot"],
};
const HUES = ["b-hue1", "b-hue2", "b-hue3", "b-hue4"];

/** The class that gives an agent its colour. */
export function agentColour(agent: string | null): string {
  if (agent === null) return "b-you";
  const known = KNOWN[agent]?.[1];
  if (known !== undefined) return known;
  const sum = Array.from(agent, (sign) => sign.codePointAt(0)!).reduce((total, code) => total + code, 0);
  return HUES[sum % HUES.length]!;
}

/** The letter badge of an agent; its name always stands beside it. */
export function AgentBadge({ agent }: { readonly agent: string }): ReactNode {
  return (
    <span className="b-ag" aria-hidden="true">
      {KNOWN[agent]?.[0] ?? agentName(agent).charAt(0).toUpperCase()}
    </span>
  );
}

/** How many lines came and went: `+128 −31`. */
export function Lines({
  plus,
  minus,
}: {
  readonly plus: number | null;
  readonly minus: number | null;
}): ReactNode {
  if (!plus && !minus) return null;
  return (
    <span className="b-num">
      {plus ? <span className="b-plus">+{plus.toLocaleString("en")}</span> : null}
      {plus && minus ? " " : null}
      {minus ? <span className="b-minus">−{minus.toLocaleString("en")}</span> : null}
    </span>
  );
}

/** A path with its directory in the background; hostile characters are shown. */
export function PathName({
  path,
  from,
}: {
  readonly path: string;
  readonly from?: string | undefined;
}): ReactNode {
  const at = path.lastIndexOf("/") + 1;
  const old = from === undefined ? "" : `${from.startsWith(path.slice(0, at)) ? from.slice(at) : from} → `;
  return (
    <span className="b-mono b-cut" title={visible(path)}>
      <bdi>
        <span className="b-dir">{visible(path.slice(0, at))}</span>
        {visible(old)}
        {visible(path.slice(at))}
      </bdi>
    </span>
  );
}
