import { lengthOf } from "#lib/audit/search-store.ts";

/**
 * Returns the current sequence of the organization's audit log. A page calls this before its other reads, so that the browser
 * can ask for all changes that the page may not show.
 */
export const readSince = (organizationId: string): Promise<number> => lengthOf(organizationId);
