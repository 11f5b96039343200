import { z } from "zod";
import { invalidField } from "#lib/problem.ts";

/** A list with filters adds its filters to this shape: `z.strictObject({ ...PageQuery.shape, … })`. */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20).meta({ description: "The maximum number of items in the answer." }),
  cursor: z.string().min(1).max(512).optional().meta({ description: "The nextCursor of the previous page." }),
});
export type PageQuery = z.output<typeof PageQuery>;

/** The two paged lists whose body has only `items` return a ListReply, whose next page is in the Link header. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().optional().meta({ description: "Absent on the last page." }),
    hasMore: z.boolean(),
  });

/** Encoded, so that clients do not rely on the content. */
export const encodeCursor = (place: string): string => Buffer.from(`1:${place}`).toString("base64url");

/** @throws Problem invalid_request if the text does not have the form of a cursor */
export function decodeCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString();
  if (!/^1:[A-Za-z0-9_.:-]{1,256}$/.test(text) || encodeCursor(text.slice(2)) !== cursor) {
    throw invalidField("/query/cursor", "This is not a cursor of this service.");
  }
  return text.slice(2);
}

export type Page<R> = { readonly items: readonly R[]; readonly nextCursor?: string; readonly hasMore: boolean };

/** `rows` has one row more than `limit` if there is another page. `placeOf` returns the sort key of a row. */
export function page<R>(rows: readonly R[], limit: number, placeOf: (row: R) => string): Page<R> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit;
  return { items, ...(hasMore && last !== undefined && { nextCursor: encodeCursor(placeOf(last)) }), hasMore };
}
