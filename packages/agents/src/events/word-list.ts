/** A list of names, written as text: `words("read write")`. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}
