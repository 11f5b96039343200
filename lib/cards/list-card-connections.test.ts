import { expect, test } from "vitest";
import * as contract from "#lib/cards/contract.ts";
import { listCardConnections } from "#lib/cards/list-card-connections.ts";
import { useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();
const { at, map, mandateFor } = useCards();

test("members see the connections of their organization with the cards that are mapped, and no secret", async () => {
  const [first, second] = [await map(await mandateFor("10")), await map(await mandateFor("10"))];
  const { data } = await send(contract.listCardConnections, listCardConnections, { as: at.person });
  expect(data.items).toHaveLength(1);
  expect(data.items[0]!.cards.map(({ cardId }) => cardId)).toEqual([first, second].toSorted());
  expect(JSON.stringify(data)).not.toContain("whsec");
  const other = await createPerson(await createOrganization());
  expect((await send(contract.listCardConnections, listCardConnections, { as: other.credential })).data.items).toEqual([]);
});
