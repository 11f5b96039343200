import { isIP } from "node:net";
import { createTransport } from "nodemailer";
import { env } from "#lib/env.ts";
import { perProcess } from "#lib/process.ts";

const CONNECT_MS = 10_000;
const SILENCE_MS = 20_000;
/** Longer than one mail can take: connecting, and then a silence of 20 s before each of the eleven replies of an SMTP session. */
export const LEASE_MS = 300_000;

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

function connect() {
  const { SMTP_URL = "", MAIL_FROM, ENVIRONMENT } = env();
  return createTransport(
    {
      // Options in SMTP_URL override the options here.
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

/** The SMTP transport, one per process. */
export const transport = (): ReturnType<typeof connect> => perProcess("smtp", connect);
