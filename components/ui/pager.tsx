import Link from "next/link";
import { buttonClass } from "./button-class.ts";
import { address, all, one, type PageQuery } from "./page-query.ts";

/** The maximum number of earlier pages in an address. Before the earliest of them, "Newer" leads to the first page. */
const TRAIL = 20;
const FIRST = "first";

/** A cursor only leads forward, so the address also stores the cursors of the earlier pages. */
export const older = (path: string, query: PageQuery, nextCursor: string): string =>
  address(path, query, { cursor: nextCursor, from: [...all(query, "from"), one(query, "cursor") ?? FIRST].slice(-TRAIL) });

/** Undefined on the first page. */
export function newer(path: string, query: PageQuery): string | undefined {
  if (one(query, "cursor") === undefined) return undefined;
  const from = all(query, "from");
  const last = from.at(-1) ?? FIRST;
  return address(path, query, { cursor: last === FIRST ? undefined : last, from: from.slice(0, -1) });
}

type Props = { readonly path: string; readonly query: PageQuery; readonly nextCursor: string | undefined };

export function Pager({ path, query, nextCursor }: Props) {
  const back = newer(path, query);
  if (back === undefined && nextCursor === undefined) return null;
  return (
    <nav className="ml-auto flex gap-2" aria-label="Pages">
      {back !== undefined && (
        <Link className={buttonClass({ size: "small" })} href={back} rel="prev" prefetch={false}>
          Newer
        </Link>
      )}
      {nextCursor !== undefined && (
        <Link className={buttonClass({ size: "small" })} href={older(path, query, nextCursor)} rel="next" prefetch={false}>
          Older
        </Link>
      )}
    </nav>
  );
}
