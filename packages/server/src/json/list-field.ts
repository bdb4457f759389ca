/** A list in JSON and its total. */
export type ListField<Name extends string, Item> = Readonly<
  Record<Name, readonly Item[]> & Record<`${Name}Total`, number>
>;

/** The first entries of a list, and its total when there are more. */
export function listField<Name extends string, Item>(
  name: Name,
  items: readonly Item[],
): ListField<Name, Item> {
  return {
    [name]: items,
    [`${name}Total`]: items.length,
  } as unknown as ListField<Name, Item>;
}
