import { newestKept } from "#lib/mail/store.ts";
import { toWire } from "#lib/time.ts";

const ROWS = 50;

export type KeptMail = {
  readonly mailId: string;
  readonly to: string;
  readonly subject: string;
  /** The text before the link; all of the text if there is no link. */
  readonly opening: string;
  readonly link: string | null;
  readonly closing: string;
  readonly at: string;
};

export async function viewOutbox(to?: string): Promise<readonly KeptMail[]> {
  const rows = await newestKept(ROWS, to?.toLowerCase());
  return rows.map(({ mailId, recipient, subject, plain, createdAt }) => {
    const [opening = "", link = null, closing = ""] = plain.split(/^(https?:\/\/\S+)$/m);
    return {
      mailId,
      to: recipient,
      subject,
      opening: opening.trim(),
      link,
      closing: closing.replace(/^\s*--\s*/, "").trim(),
      at: toWire(createdAt),
    };
  });
}
