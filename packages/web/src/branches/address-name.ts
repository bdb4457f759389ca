/** A branch's name in an address: those have no encoded slash, and no name has a "~". */
export function addressName(name: string): string {
  return name.replaceAll("/", "~");
}
