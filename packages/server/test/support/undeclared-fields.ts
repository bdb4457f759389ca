/** What an answer has beyond its shape: readers must tolerate it, but the contract does not speak of it. */
import { z } from "zod";

/** The paths of all fields that the shape does not name. */
export function undeclared(shape: z.core.$ZodType, value: unknown, at = ""): string[] {
  if (value === null || value === undefined) return [];
  if (shape instanceof z.ZodNullable || shape instanceof z.ZodOptional)
    return undeclared(shape.unwrap(), value, at);
  if (shape instanceof z.ZodArray)
    return (value as unknown[]).flatMap((item) => undeclared(shape.element, item, `${at}[]`));
  if (shape instanceof z.ZodRecord)
    return Object.values(value).flatMap((item) => undeclared(shape.valueType, item, `${at}{}`));
  if (!(shape instanceof z.ZodObject)) return [];
  return Object.entries(value).flatMap(([name, field]) => {
    const known = shape.shape[name] as z.core.$ZodType | undefined;
    return known === undefined ? [`${at}.${name}`] : undeclared(known, field, `${at}.${name}`);
  });
}
