/** Hints for a name of a checkpoint that is not allowed, or that no checkpoint has. */

/** A permitted name similar to the given one. */
export function validName(name: string): string {
  const plain = name
    .replace(/^[@\s]+/, "")
    .slice(0, 50)
    .trim();
  return plain === "" || /^T?\d+$/.test(plain) || /^[k-z]{16}$/.test(plain) ? `v-${plain || "1"}` : plain;
}

/** The checkpoint that the user probably meant by an unknown name. */
export function hintForName(name: string): string {
  const turn = /^[tT](\d+)$/.exec(name);
  if (turn !== null && name.startsWith("t"))
    return `Turns are written T${turn[1]}; \`belay log\` shows them.`;
  const ago = /^@-(\d+[smhdw])$/.exec(name);
  if (ago !== null) return `A time ago is written @${ago[1]}; @-1 is the checkpoint before the newest.`;
  return /^(?:T\d|@turn)/.test(name) ? "`belay log` shows the turns." : "`belay list` shows the checkpoints.";
}
