import { isIP } from "node:net";
import { createTransport } from "nodemailer";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** A worker reserves a mail for this time, which is longer than an attempt usually takes. */
export const MAIL_LEASE_MS = 300_000;

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

function connect() {
  const { SMTP_URL = "", MAIL_FROM, ENVIRONMENT } = env();
  return createTransport(
    {
      // Options in the query of SMTP_URL override these options.
      url: SMTP_URL,
      // In production require encryption, because mails contain sign-in links, except for a mail server on this machine.
      requireTLS: ENVIRONMENT === "production" && !isLoopback(new URL(SMTP_URL).hostname),
      dnsTimeout: CONNECT_MS,
      connectionTimeout: CONNECT_MS,
      greetingTimeout: CONNECT_MS,
      socketTimeout: SILENCE_MS,
      disableFileAccess: true,
      disableUrlAccess: true,
    },
    { from: MAIL_FROM ?? "" },
  );
}

export const transport = (): ReturnType<typeof connect> => perProcess("mail/transport", connect);
