import { findStillWanted } from "#lib/notices/wanted-store.ts";

/**
 * Whether a mail is still to be sent. The service asks this right before sending, because the mail may have waited for hours. A
 * mail about a request for approval is not sent after the decision, nor to a person who may no longer approve. Every other mail
 * is sent.
 */
export const stillWanted = async (mailId: string): Promise<boolean> => (await findStillWanted(mailId)) ?? true;
