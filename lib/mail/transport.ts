import { isIP } from "node:net";
import { createTransport } from "nodemailer";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Above what the waits below come to for one mail. */
export const LEASE_MS = 120_000;

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

function connect() {
  const { SMTP_URL = "", MAIL_FROM, ENVIRONMENT } = env();
  return createTransport(
    {
      // What stands in the address wins over what stands here.
      url: SMTP_URL,
      // Mail carries links that sign people in. A relay on this machine needs no encryption.
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

/** The way to the SMTP server, once in a process. */
export const transport = (): ReturnType<typeof connect> => perProcess("smtp", connect);
