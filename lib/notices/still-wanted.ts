import { findStillWanted } from "#lib/notices/wanted-store.ts";

/**
 * Asked right before a mail is sent, because it may have waited for hours: a mail about a request is not sent after the decision, nor to
 * somebody who may no longer approve. Every other mail is.
 */
export const stillWanted = async (mailId: string): Promise<boolean> => (await findStillWanted(mailId)) ?? true;
