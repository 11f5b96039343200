import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { asc, eq, sql } from "drizzle-orm";
import { expect } from "vitest";
import { database } from "#lib/db/client.ts";
import { session } from "#lib/identity/tables.ts";
import { forget } from "#lib/process.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { createWebhookEndpoint } from "#lib/webhooks/create-webhook-endpoint.ts";
import { sendWebhooks } from "#lib/webhooks/send-webhooks.ts";
import { webhookDeliveries, webhookEndpoints } from "#lib/webhooks/tables.ts";
import { newOrganization, type Owner } from "#test/identity.ts";
import { createPerson, send } from "#test/tenant.ts";

export type Message = {
  readonly path: string;
  readonly body: string;
  readonly headers: Readonly<Record<"webhook-id" | "webhook-timestamp" | "webhook-signature" | "content-type", string>>;
};
type Answering = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts a receiver of webhooks and allows the sandbox to call it. It answers 200, unless another answer is set for a path. */
export async function startReceiver() {
  const received: Message[] = [];
  const answers = new Map<string, Answering>();
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const path = request.url ?? "";
      const headers = request.headers as Message["headers"];
      received.push({ path, headers, body: Buffer.concat(chunks).toString() });
      const answer = answers.get(path);
      if (answer) answer(request, response);
      else response.end();
    });
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  process.env["OUTBOUND_LOOPBACK"] = `127.0.0.1:${port}`;
  forget("env");
  return {
    newPath: (answer?: Answering) => {
      const path = `/${randomBytes(6).toString("hex")}`;
      if (answer) answers.set(path, answer);
      return path;
    },
    answer: (path: string, answer: Answering | null) => (answer ? answers.set(path, answer) : answers.delete(path)),
    url: (path: string) => `http://127.0.0.1:${port}${path}`,
    at: (path: string) => received.filter((one) => one.path === path),
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((done) => server.close(() => done()));
    },
  };
}
export type Receiver = Awaited<ReturnType<typeof startReceiver>>;

export const create = (owner: Pick<Owner, "credential">, body: Record<string, unknown>, key?: string) =>
  send(contract.createWebhookEndpoint, createWebhookEndpoint, {
    as: owner.credential,
    body,
    ...(key !== undefined && { key }),
  });

/** An organization with a webhook endpoint at a path of the receiver. */
export async function newEndpoint(receiver: Receiver, answer?: Answering, body: Record<string, unknown> = {}) {
  const owner = await newOrganization();
  const path = receiver.newPath(answer);
  const { status, data, problem } = await create(owner, { url: receiver.url(path), eventTypes: ["payment.*"], ...body });
  if (status !== 201) throw new Error(problem.detail);
  return { ...data, owner, path, organizationId: owner.organizationId, secret: data.secret ?? "" };
}

export const endpointRow = async (id: string) => {
  const [row] = await database().select().from(webhookEndpoints).where(eq(webhookEndpoints.webhookEndpointId, id));
  return row;
};

export const changeRow = (id: string, change: Partial<typeof webhookEndpoints.$inferInsert>) =>
  database().update(webhookEndpoints).set(change).where(eq(webhookEndpoints.webhookEndpointId, id));

export const deliveryRows = (id: string) =>
  database()
    .select()
    .from(webhookDeliveries)
    .where(eq(webhookDeliveries.webhookEndpointId, id))
    .orderBy(asc(webhookDeliveries.sequence));

/** Calls sendWebhooks again and again until `what` returns true, for at most a minute. */
export const workUntil = (what: () => unknown) =>
  expect
    .poll(
      async () => {
        await sendWebhooks();
        return (await what()) === true;
      },
      { interval: 20 },
    )
    .toBe(true);

export const setDue = (id: string) =>
  database().update(webhookDeliveries).set({ nextAttemptAt: new Date() }).where(eq(webhookDeliveries.webhookEndpointId, id));

/**
 * Ends the deliveries of an endpoint as after the last attempt. If an attempt is still running, its outcome does not count any
 * more.
 */
export const giveUp = (id: string) =>
  database()
    .update(webhookDeliveries)
    .set({ status: "failed", nextAttemptAt: null })
    .where(eq(webhookDeliveries.webhookEndpointId, id));

/** An admin whose last proof of identity is older than FRESH_SESSION_MS, 15 minutes, and so too old to give rights. */
export async function newStaleAdmin(organizationId: string) {
  const admin = await createPerson(organizationId, "admin");
  await database()
    .update(session)
    .set({ provedAt: sql`statement_timestamp() - interval '901 seconds'` })
    .where(eq(session.userId, admin.userId));
  return admin;
}
