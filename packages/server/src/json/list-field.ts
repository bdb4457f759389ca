/** Lists in JSON hold at most 200 entries and always say how many there are. */
const LONGEST = 200;

export type ListField<Name extends string, Item> = Readonly<
  Record<Name, readonly Item[]> & Record<`${Name}Total`, number>
>;

export function listField<Name extends string, Item>(
  name: Name,
  items: readonly Item[],
  all: boolean | undefined,
): ListField<Name, Item> {
  return {
    [name]: all === true ? items : items.slice(0, LONGEST),
    [`${name}Total`]: items.length,
  } as unknown as ListField<Name, Item>;
}
