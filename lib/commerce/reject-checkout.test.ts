import { eq } from "drizzle-orm";
import { describe, expect, test } from "vitest";
import { checkoutApprovals } from "#lib/approvals/tables.ts";
import { database } from "#lib/db/client.ts";
import { holdsOf } from "#test/asking.ts";
import { approve, cancel, expire, reject, reviewed } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { typesOf } from "#test/mandate-steps.ts";
import { eventsOf } from "#test/mandates.ts";
import { useCheckout } from "#test/open-checkout.ts";

useDatabase();

const checkout = useCheckout();

const holds = async () => (await holdsOf(checkout.mandateId)).map(({ status }) => status);

describe("rejectCheckout", () => {
  test("200 stores who declined and why, reserves nothing, and declining again changes nothing", async () => {
    const first = await reject(checkout.id, checkout.person.credential, { reason: " We have enough. " });
    expect([first.status, first.data.intent.status]).toEqual([200, "rejected"]);
    const again = await reject(checkout.id, checkout.person.credential, { reason: "Another reason." });
    expect([again.status, again.data.intent.status]).toEqual([200, "rejected"]);
    const rows = await database().select().from(checkoutApprovals).where(eq(checkoutApprovals.checkoutIntentId, checkout.id));
    const { userId } = checkout.person;
    expect(rows).toMatchObject([{ status: "rejected", approvedBySubjectId: userId, reason: "We have enough." }]);
    expect(await holds()).toEqual([]);
    const events = (await eventsOf(checkout.id)).filter(({ type }) => type === "checkout.rejected");
    expect(events).toMatchObject([{ actorId: userId, metadata: { reason: "We have enough." } }]);
  });

  test("409 after an approval, whose amount stays reserved, and after a cancellation", async () => {
    await reviewed(checkout.id, checkout.person);
    await approve(checkout.id, checkout.person.credential);
    const late = await reject(checkout.id, checkout.person.credential);
    expect([late.status, late.problem.code]).toEqual([409, "approval_already_decided"]);
    expect(await holds()).toEqual(["held"]);
    await cancel(checkout.id, checkout.agent.credential);
    expect((await reject(checkout.id, checkout.person.credential)).problem.code).toBe("checkout_closed");
  });

  test("410 after the end of the checkout, and no event", async () => {
    await expire(checkout.id);
    const { status, problem } = await reject(checkout.id, checkout.person.credential);
    expect([status, problem.code]).toEqual([410, "intent_expired"]);
    expect(await typesOf(checkout.id)).not.toContain("checkout.rejected");
  });

  test("400 points at an empty reason, 403 for the agent, 404 for another organization", async () => {
    expect((await reject(checkout.id, checkout.person.credential, { reason: " " })).problem.errors?.[0]?.pointer).toBe("/reason");
    expect((await reject(checkout.id, checkout.agent.credential)).status).toBe(403);
    expect((await reject(checkout.id, (await newOrganization()).credential)).status).toBe(404);
    expect(await typesOf(checkout.id)).not.toContain("checkout.rejected");
  });

  test("a repeat with the same idempotency key gets the same bytes", async () => {
    const first = await reject(checkout.id, checkout.person.credential, {}, "reject-once");
    const again = await reject(checkout.id, checkout.person.credential, {}, "reject-once");
    expect([again.headers.get("idempotent-replayed"), again.data]).toEqual(["true", first.data]);
  });
});
