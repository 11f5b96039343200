import { expect, test } from "vitest";
import * as contract from "#lib/cards/contract.ts";
import { updateCardConnection } from "#lib/cards/update-card-connection.ts";
import { newId, request, useCards } from "#test/cards.ts";
import { useDatabase } from "#test/database.ts";
import { proved } from "#test/proofs.ts";
import { send as ask } from "#test/tenant.ts";

useDatabase();
const { at, map, mandateFor, send } = useCards();

const update = (body: Record<string, unknown>) =>
  proved(at.person, () => ask(contract.updateCardConnection, updateCardConnection, { as: at.person, id: at.connectionId, body }));

test("a secret is replaced without a gap, and after the end of the connection nothing is decided", async () => {
  const next = "whsec_fedcba9876543210fedcba9876543210";
  const cardId = await map(await mandateFor("10"));
  const asks = async (secret?: string) =>
    (
      await send("issuing_authorization.request", request({ cardId, iauth: newId("iauth") }, 100), {
        ...(secret !== undefined && { secret }),
      })
    ).status;
  expect((await update({ webhookSecret: next })).data.secrets).toBe(2);
  expect([await asks(), await asks(next)]).toEqual([200, 200]);
  expect((await update({ dropPrevious: true })).data.secrets).toBe(1);
  expect([await asks(), await asks(next)]).toEqual([403, 200]);
  expect((await update({ ended: true })).status).toBe(200);
  const ended = await send("issuing_authorization.request", request({ cardId, iauth: newId("iauth") }, 100), { secret: next });
  expect(ended.data).toEqual({ approved: false, metadata: { reason: "connection_ended" } });
  expect((await update({ dropPrevious: true })).status).toBe(404);
});
