import { z } from "zod";
import { invalidField } from "#lib/problem.ts";

/**
 * The query parameters of every list. A list with filters adds them to this shape: `z.strictObject({ ...PageQuery.shape, … })`.
 */
export const PageQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(100).default(20).meta({ description: "The maximum number of items in the answer." }),
  cursor: z.string().min(1).max(512).optional().meta({ description: "The nextCursor of the previous page." }),
});
export type PageQuery = z.output<typeof PageQuery>;

/** Makes the reply schema of a list with pages. The lists whose body has only `items` return a ListReply instead. */
export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({
    items: z.array(item),
    nextCursor: z.string().optional().meta({ description: "Absent on the last page." }),
    hasMore: z.boolean(),
  });

/** Makes a cursor: the position of the last item, encoded so that clients do not rely on its content. */
export const encodeCursor = (place: string): string => Buffer.from(`1:${place}`).toString("base64url");

/**
 * Reads the position in a cursor; null without a cursor. @throws Problem invalid_request if the text has not the form of a
 * cursor
 */
export function decodeCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const text = Buffer.from(cursor, "base64url").toString();
  if (!/^1:[A-Za-z0-9_.:-]{1,256}$/.test(text) || encodeCursor(text.slice(2)) !== cursor) {
    throw invalidField("/query/cursor", "This is not a cursor of this service.");
  }
  return text.slice(2);
}

export type Page<R> = { readonly items: readonly R[]; readonly nextCursor?: string; readonly hasMore: boolean };

/**
 * Makes a page of `limit` items. `rows` has one row more than that if there is another page. `placeOf` returns the sort key of a
 * row.
 */
export function page<R>(rows: readonly R[], limit: number, placeOf: (row: R) => string): Page<R> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit;
  return { items, ...(hasMore && last !== undefined && { nextCursor: encodeCursor(placeOf(last)) }), hasMore };
}
