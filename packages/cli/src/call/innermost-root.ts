/** Of protected directories, the innermost that a path is in. */
export function innermostRoot(roots: readonly string[], path: string): string | undefined {
  const around = roots.filter((root) => path === root || path.startsWith(`${root}/`));
  return around.toSorted((a, b) => b.length - a.length)[0];
}
