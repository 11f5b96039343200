import { describe, expect, test } from "vitest";
import * as contract from "#lib/cards/contract.ts";
import { setCard } from "#lib/cards/set-card.ts";
import { newId, request, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { activeMandate, createBuyer, eventsOf } from "#test/mandates.ts";
import { send as ask } from "#test/tenant.ts";

useDatabase();
const { at, map, mandateFor, send } = useCards();

const set = (cardId: string, body: Record<string, unknown>) =>
  ask(contract.setCard, setCard, { as: at.person, id: [at.connectionId, cardId], body });
const asks = async (cardId: string) =>
  (await send("issuing_authorization.request", request({ cardId, iauth: newId("iauth") }, 100))).data.metadata?.["reason"];

describe("a card", () => {
  test("pays under the mandate that it was given last, and under none after it was removed", async () => {
    const cardId = await map(await mandateFor("10"));
    expect(await asks(cardId)).toBe("allowed");
    const mandateId = await mandateFor("0.5");
    expect((await set(cardId, { name: "Small", mandateId, serviceAccountId: at.serviceAccountId })).data.card).toMatchObject({
      mandateId,
    });
    expect(await asks(cardId)).toBe("per_payment_limit_exceeded");
    expect((await set(cardId, { mandateId: null })).data).toEqual({ card: null });
    expect(await asks(cardId)).toBe("card_not_mapped");
    expect((await eventsOf(cardId)).map(({ type }) => type)).toEqual(["card.mapped", "card.mapped", "card.removed"]);
  });

  test("is given only to a mandate that admits cards, and to an agent of the organization", async () => {
    const { serviceAccountId } = at;
    const mandateId = await mandateFor("10");
    const other = await createBuyer();
    const refused: readonly (readonly [Record<string, unknown>, string])[] = [
      [{ mandateId: await activeMandate(at.person), serviceAccountId }, "/mandateId"],
      [{ mandateId: await activeMandate(other.person.credential), serviceAccountId }, "/mandateId"],
      [{ mandateId, serviceAccountId: other.agent.serviceAccountId }, "/serviceAccountId"],
    ];
    for (const [body, pointer] of refused) {
      const { status, problem } = await set(newId("ic"), { name: "A card", ...body });
      expect([status, problem.errors?.[0]?.pointer]).toEqual([400, pointer]);
    }
    expect((await set("card_1", { name: "A card", mandateId, serviceAccountId })).problem.errors?.[0]?.pointer).toBe(
      "/path/cardId",
    );
  });
});
