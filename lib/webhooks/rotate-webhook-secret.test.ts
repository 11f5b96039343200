import { describe, expect, test } from "vitest";
import * as contract from "#lib/webhooks/contract.ts";
import { rotateWebhookSecret } from "#lib/webhooks/rotate-webhook-secret.ts";
import { newSecrets, seal, unseal } from "#lib/webhooks/secrets.ts";
import { eventsAbout } from "#test/audit.ts";
import { useDatabase } from "#test/database.ts";
import { newOrganization } from "#test/identity.ts";
import { send, type Credential } from "#test/tenant.ts";
import { create, endpointRow, newStaleAdmin } from "#test/webhooks.ts";

useDatabase();

const rotate = (as: Credential, id: string, body: Record<string, unknown> = {}) =>
  send(contract.rotateWebhookSecret, rotateWebhookSecret, { as, id, body });

describe("rotateWebhookSecret", () => {
  test("returns new secrets once; the previous ones stay valid for the grace period, or not at all", async () => {
    const owner = await newOrganization();
    const first = (await create(owner, { url: "https://example.com/" })).data;
    const id = first.webhookEndpointId;
    const second = (await rotate(owner.credential, id)).data;
    expect(second.previousSecretUntil).toMatch(/Z$/);
    const third = (await rotate(owner.credential, id, { gracePeriodSeconds: 0 })).data;
    expect(third.previousSecretUntil).toBeUndefined();
    expect(new Set([first, second, third].flatMap(({ secret, publicKey }) => [secret, publicKey])).size).toBe(6);
    expect(await endpointRow(id)).toMatchObject({ previousSealed: null, previousUntil: null, publicKey: third.publicKey });
    expect((await eventsAbout(id)).slice(1).map(({ type, metadata }) => [type, metadata])).toEqual([
      ["webhookEndpoint.secretRotated", { gracePeriodSeconds: 86_400 }],
      ["webhookEndpoint.secretRotated", { gracePeriodSeconds: 0 }],
    ]);
  });

  test("needs a recent proof of identity", async () => {
    const owner = await newOrganization();
    const { data } = await create(owner, { url: "https://example.com/" });
    const { credential } = await newStaleAdmin(owner.organizationId);
    expect((await rotate(credential, data.webhookEndpointId)).problem.code).toBe("step_up_required");
  });

  test("encrypted secrets can be read for their own endpoint only", () => {
    const secrets = newSecrets();
    const sealed = seal(secrets, "whe_1");
    expect(unseal(sealed, "whe_1")).toEqual(secrets);
    expect(unseal(sealed, "whe_2")).toBeNull();
    expect(unseal(`${sealed.slice(0, -2)}${sealed.endsWith("AA") ? "BA" : "AA"}`, "whe_1")).toBeNull();
  });
});
