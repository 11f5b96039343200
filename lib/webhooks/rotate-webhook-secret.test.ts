import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { forget } from "#lib/process.ts";
import * as contract from "#lib/webhooks/contract.ts";
import { resealSecrets, secretsAreReadable } from "#lib/webhooks/reseal-secrets.ts";
import { rotateWebhookSecret } from "#lib/webhooks/rotate-webhook-secret.ts";
import { newSecrets, seal, signerOf, unseal } from "#lib/webhooks/secrets.ts";
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

describe("the keys that encrypt secrets", () => {
  const variables = ["WEBHOOK_ENCRYPTION_KEY", "API_KEY_SECRET"] as const;
  /** Sets environment variables and forgets what was read from them, as if the process had been started with these values. */
  const configure = (values: Readonly<Partial<Record<(typeof variables)[number], string>>>) => {
    Object.assign(process.env, values);
    forget("env", "key-ring", "webhooks/secrets");
  };

  test("can be replaced without losing a secret: the first key encrypts, each one decrypts, and old text is encrypted again", async () => {
    const kept = Object.fromEntries(variables.map((name) => [name, process.env[name] ?? ""]));
    onTestFinished(() => configure(kept));
    const owner = await newOrganization();
    const { webhookEndpointId: id } = (await create(owner, { url: "https://example.com/" })).data;
    expect((await rotate(owner.credential, id)).status).toBe(200);
    const before = (await endpointRow(id))!;
    const secrets = [unseal(before.sealed, id), unseal(before.previousSealed!, id)];
    const readable = async () => {
      const { sealed, previousSealed } = (await endpointRow(id))!;
      return [unseal(sealed, id), unseal(previousSealed!, id)];
    };
    const [first, second] = [randomBytes(32), randomBytes(32)].map((key) => key.toString("base64url")) as [string, string];

    configure({ WEBHOOK_ENCRYPTION_KEY: first });
    expect([await readable(), await secretsAreReadable()]).toEqual([secrets, true]);
    await resealSecrets();
    expect(await resealSecrets()).toBe(0);
    expect([(await endpointRow(id))!.sealed === before.sealed, await readable()]).toEqual([false, secrets]);

    // API_KEY_SECRET may change now, because the secrets are encrypted with WEBHOOK_ENCRYPTION_KEY.
    configure({ WEBHOOK_ENCRYPTION_KEY: `${second},${first}`, API_KEY_SECRET: "yet another secret, for the tests only" });
    expect([await readable(), await secretsAreReadable()]).toEqual([secrets, true]);
    await resealSecrets();
    configure({ WEBHOOK_ENCRYPTION_KEY: second });
    expect([await readable(), await secretsAreReadable()]).toEqual([secrets, true]);

    configure({ WEBHOOK_ENCRYPTION_KEY: first });
    expect([await readable(), await secretsAreReadable()]).toEqual([[null, null], false]);
    expect(signerOf((await endpointRow(id))!.sealed, id)).toBeNull();
    await resealSecrets();
    configure({ WEBHOOK_ENCRYPTION_KEY: second });
    expect(await readable()).toEqual(secrets);
  });
});
