import { zodResolver } from "@hookform/resolvers/zod";
import type { FieldValues, Resolver } from "react-hook-form";
import type { z } from "zod";
import { fieldWords, withoutBlanks } from "./field-words.ts";

/** This file is loaded on demand, because it contains zod. */
export function checkBody<V extends FieldValues>(schema: z.ZodType): Resolver<V> {
  const check = zodResolver(schema as never, { error: fieldWords } as never) as unknown as Resolver<V>;
  return (values, context, options) => check(withoutBlanks(values) as V, context, options);
}
