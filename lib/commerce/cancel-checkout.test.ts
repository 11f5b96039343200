import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { checkoutApprovals } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { holdsOf } from "#test/asking.ts";
import { approve, cancel, expire, previewed, reject, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization } from "#test/identity.ts";
import { typesOf } from "#test/mandate-steps.ts";
import { eventsOf } from "#test/mandates.ts";
import { useCheckout } from "#test/open-checkout.ts";

useDatabase();

const checkout = useCheckout();

const holds = async () => (await holdsOf(checkout.mandateId)).map(({ status }) => status);

describe("cancelCheckout", () => {
  test("200 closes the checkout with one event; canceling again gives the same answer", async () => {
    const first = await cancel(checkout.id, checkout.agent.credential);
    expect([first.status, first.data.intent.status]).toEqual([200, "canceled"]);
    const again = await cancel(checkout.id, checkout.agent.credential);
    expect([again.status, again.data.intent.status]).toEqual([200, "canceled"]);
    expect((await typesOf(checkout.id)).filter((type) => type === "checkout.canceled")).toHaveLength(1);
    expect((await eventsOf(checkout.id)).at(-1)?.actorId).toBe(checkout.agent.serviceAccountId);
  });

  test("200 after an approval revokes the approval and releases the reserved amount", async () => {
    await reviewed(checkout.id, checkout.person);
    await approve(checkout.id, checkout.person.credential);
    expect(await holds()).toEqual(["held"]);
    expect((await cancel(checkout.id, checkout.agent.credential)).data.intent.status).toBe("canceled");
    expect(await holds()).toEqual(["released"]);
    const rows = await database().select().from(checkoutApprovals).where(eq(checkoutApprovals.checkoutIntentId, checkout.id));
    expect(rows).toMatchObject([{ status: "revoked", resolvedAt: expect.any(Date) }]);
  });

  test("403 for another agent of the organization, 404 for another organization", async () => {
    const colleague = await newKey(checkout.person);
    expect((await cancel(checkout.id, colleague.credential)).problem.code).toBe("forbidden");
    const foreign = await newKey(await newOrganization());
    expect((await cancel(checkout.id, foreign.credential)).status).toBe(404);
    expect(await typesOf(checkout.id)).not.toContain("checkout.canceled");
  });

  test("409 after a rejection, 410 after the end of the checkout", async () => {
    await expire(checkout.id);
    const late = await cancel(checkout.id, checkout.agent.credential);
    expect([late.status, late.problem.code]).toEqual([410, "intent_expired"]);
    checkout.id = await previewed(checkout.shop, checkout.agent.credential);
    await reject(checkout.id, checkout.person.credential);
    const decided = await cancel(checkout.id, checkout.agent.credential);
    expect([decided.status, decided.problem.code]).toEqual([409, "approval_already_decided"]);
  });

  test("a repeat with the same idempotency key gets the same bytes", async () => {
    const first = await cancel(checkout.id, checkout.agent.credential, "cancel-once");
    const again = await cancel(checkout.id, checkout.agent.credential, "cancel-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
  });
});
