import { lengthOf } from "#lib/audit/search-store.ts";

/** Call it before a page's other reads, so that the browser can ask for all changes that the page may not show. */
export const readSince = (organizationId: string): Promise<number> => lengthOf(organizationId);
