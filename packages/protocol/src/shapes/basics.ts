/** What the shapes of the contract are made of: times, counts, lists, paths. */
import { z } from "zod";

/** What fits a shape exactly: every field is decided, and no other slips in. */
export type Json<Shape extends z.ZodType> = Exact<z.infer<Shape>>;

/** Without the index signatures that let readers tolerate unknown fields. */
type Exact<Value> = Value extends readonly (infer Item)[]
  ? readonly Exact<Item>[]
  : Value extends object
    ? [NamedKeys<Value>] extends [never]
      ? { readonly [Key in keyof Value]: Exact<Value[Key]> }
      : { readonly [Key in keyof Value as string extends Key ? never : Key]: Exact<Value[Key]> }
    : Value;

type NamedKeys<Value> = keyof { [Key in keyof Value as string extends Key ? never : Key]: Key };

/** A moment, in ISO 8601. */
export const time = z.iso.datetime();

/** The shape of a whole number that counts something. */
export const count = z.int();

/** A list, and how many entries it has. */
export function list<Name extends string, Item extends z.ZodType>(name: Name, item: Item) {
  return { [name]: z.array(item), [`${name}Total`]: count } as Record<Name, z.ZodArray<Item>> &
    Record<`${Name}Total`, typeof count>;
}

/** A path, with its exact bytes where it is not UTF-8. */
export const pathEntry = z.looseObject({ path: z.string(), pathBase64: z.string().optional() });

/** A path and why it is named. */
export const reasonedPath = pathEntry.extend({ reason: z.string() });

/** A path that was seen and not captured. */
export const gap = reasonedPath.extend({ size: count });

/** What captures keep to now: how large a file, and what is new in a checkpoint, may be. */
export const captureLimits = z.looseObject({ fileBytes: count, checkpointBytes: count });

/** A path that was not captured, and the rule that left it out. */
export const excludedPath = pathEntry.extend({ rule: z.string(), bytes: count.nullable() });

/** What git said when a checkpoint was taken. */
export const gitState = z.looseObject({
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  dirty: z.boolean(),
  ...list("staged", z.string()),
});

/** Files by what became of them. */
export const changeCounts = z.looseObject({ added: count, modified: count, deleted: count });

/** The agent at work when a checkpoint was taken. */
export const agentFacts = z.looseObject({
  id: z.string(),
  role: z.string(),
  status: z.string(),
  cost: z.number().nullable(),
  tokens: z.number().nullable(),
});
