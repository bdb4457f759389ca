/** Lists in JSON are whole, and say how many entries they have. */
export type ListField<Name extends string, Item> = Readonly<
  Record<Name, readonly Item[]> & Record<`${Name}Total`, number>
>;

export function listField<Name extends string, Item>(
  name: Name,
  items: readonly Item[],
): ListField<Name, Item> {
  return {
    [name]: items,
    [`${name}Total`]: items.length,
  } as unknown as ListField<Name, Item>;
}
