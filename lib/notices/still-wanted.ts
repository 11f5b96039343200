import { findStillWanted } from "#lib/notices/wanted-store.ts";

/**
 * Whether a mail is still to be sent. The service asks this right before sending, because the mail may have waited for hours. A
 * mail about requests for approval is not sent if its recipient may no longer decide any of them, or has switched off such
 * mail. Every other mail is sent.
 */
export const stillWanted = async (mailId: string): Promise<boolean> => (await findStillWanted(mailId)) ?? true;
