import { beforeAll, describe, expect, test } from "vitest";
import * as contract from "#lib/mandates/contract.ts";
import { getMandate } from "#lib/mandates/get-mandate.ts";
import { listMandates } from "#lib/mandates/list-mandates.ts";
import { useDatabase } from "#test/database.ts";
import { authorize, createBuyer, draftMandate, activeMandate, type Buyer } from "#test/mandates.ts";
import { send } from "#test/tenant.ts";

useDatabase();

let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer();
});

describe("listMandates", () => {
  const operation = contract.listMandates;

  test("200 pages newest first, without gaps and without the mandates of others", async () => {
    const own = await createBuyer();
    const as = own.person.credential;
    const made: string[] = [];
    for (let index = 0; index < 5; index++) made.push((await draftMandate(as)).mandateId);
    await draftMandate(own.foreign);
    const seen: string[] = [];
    let cursor = "";
    do {
      const query = `?limit=2${cursor && `&cursor=${cursor}`}`;
      const { data } = await send(operation, listMandates, { as, query });
      seen.push(...data.items.map(({ mandateId }) => mandateId));
      expect(data.hasMore).toBe(data.nextCursor !== undefined);
      cursor = data.nextCursor ?? "";
    } while (cursor);
    expect(seen).toEqual(made.toReversed());
  });

  test("200 shows each mandate as getMandate does", async () => {
    const own = await createBuyer();
    const as = own.person.credential;
    await authorize(own, await activeMandate(as));
    await authorize(own, await activeMandate(as), "0.5");
    const { data } = await send(operation, listMandates, { as });
    for (const mandate of data.items) {
      expect(mandate).toEqual((await send(contract.getMandate, getMandate, { as, id: mandate.mandateId })).data);
    }
  });

  test.each(["?cursor=nonsense", "?limit=0", "?limit=101", "?offset=1"])("400 refuses %s", async (query) => {
    expect((await send(operation, listMandates, { as: buyer.person.credential, query })).status).toBe(400);
  });
});
