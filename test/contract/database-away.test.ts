import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { closePools } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { forget } from "#lib/process.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer, intentFor, type Buyer } from "#test/mandates.ts";
import { waysIn, type WayIn } from "#test/ways-in.ts";

const own = useDatabase();

async function moveDatabase(url: string): Promise<void> {
  await closePools();
  process.env["DATABASE_URL"] = url;
  forget("env");
}

describe.each(waysIn.slice(0, 2))("while the database is unavailable, by %s", (_name, open) => {
  let way: WayIn;
  let buyer: Buyer;
  let mandateId: string;
  beforeAll(async () => {
    way = await open();
    buyer = await createBuyer();
    mandateId = await activeMandate(buyer.person.credential);
  });
  afterAll(() => way.close());

  const authorize = async (intent: object) => {
    const response = await way.send(
      new Request(`${env().BASE_URL}/api/v1/payments/authorize`, {
        method: "POST",
        headers: { ...buyer.agent.credential, "content-type": "application/json" },
        body: JSON.stringify({ mandateId, intent }),
      }),
    );
    return {
      status: response.status,
      retryAfter: response.headers.get("retry-after"),
      body: (await response.json()) as Record<string, unknown>,
    };
  };

  test("nothing is allowed, every reply is 503, and the same key works afterwards", async () => {
    const intent = { ...intentFor(buyer, "0.5"), idempotencyKey: `away-${crypto.randomUUID()}` };
    await moveDatabase("postgres://nobody@127.0.0.1:1/none");
    const replies = await Promise.all(Array.from({ length: 20 }, () => authorize(intent)));
    for (const { status, retryAfter, body } of replies)
      expect([status, retryAfter, body["code"]]).toEqual([503, "1", "service_unavailable"]);
    expect(JSON.stringify(replies)).not.toMatch(/127\.0\.0\.1|ECONN|postgres/);
    await moveDatabase(own().url);
    expect((await authorize(intent)).body).toMatchObject({ policyDecision: { outcome: "allow" } });
  });
});
