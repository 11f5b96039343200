import type { AddressInfo } from "node:net";
import { SMTPServer, type SMTPServerOptions } from "smtp-server";
import { desc, eq } from "drizzle-orm";
import { database } from "#lib/db/client.ts";
import { mails } from "#lib/mail/tables.ts";
import { forget } from "#lib/process.ts";

export type Mailbox = { readonly port: number; readonly received: readonly string[]; stop(): Promise<void> };

/** Starts an SMTP server on this machine that keeps what it receives, and configures the service to use it. */
export async function startSmtp(options: Pick<SMTPServerOptions, "onRcptTo" | "onData"> = {}): Promise<Mailbox> {
  const received: string[] = [];
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ["STARTTLS", "AUTH"],
    onData(stream, _, done) {
      let text = "";
      stream.on("data", (chunk: Buffer) => (text += chunk.toString()));
      stream.on("end", () => {
        received.push(text);
        done();
      });
    },
    ...options,
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", () => done()));
  const { port } = server.server.address() as AddressInfo;
  process.env["SMTP_URL"] = `smtp://127.0.0.1:${port}`;
  process.env["MAIL_FROM"] = "Countersign <pay@example.com>";
  forget("env", "identity/sessions/auth", "mail/transport");
  return {
    port,
    received,
    async stop() {
      for (const name of ["SMTP_URL", "MAIL_FROM"]) delete process.env[name];
      forget("env", "identity/sessions/auth", "mail/transport");
      await new Promise<void>((done) => server.close(done));
    },
  };
}

/** The stored mails to this address, newest first. */
export const mailsTo = (email: string) =>
  database().select().from(mails).where(eq(mails.recipient, email)).orderBy(desc(mails.createdAt), desc(mails.mailId));

/** The path and the token of the link in the newest mail. */
export async function linkTo(email: string): Promise<{ readonly path: string; readonly token: string }> {
  const [mail] = await mailsTo(email);
  return linkIn(mail?.plain ?? "");
}

export function linkIn(text: string): { readonly path: string; readonly token: string } {
  const url = new URL(/^https?:\/\/\S+$/m.exec(text)?.[0] ?? "");
  return { path: url.pathname + url.search, token: url.searchParams.get("token") ?? "" };
}
