import { findStillWanted } from "#lib/notices/wanted-store.ts";

/** Asked right before sending, because a mail may have waited for hours; a mail that is not about requests is always sent. */
export const stillWanted = async (mailId: string): Promise<boolean> => (await findStillWanted(mailId)) ?? true;
