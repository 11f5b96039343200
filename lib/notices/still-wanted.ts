import { findStillWanted } from "#lib/notices/rows/wanted-store.ts";

/** Asked right before sending, because a mail may have waited for hours; true for a mail that is not about requests. */
export const stillWanted = async (mailId: string): Promise<boolean> => (await findStillWanted(mailId)) ?? true;
