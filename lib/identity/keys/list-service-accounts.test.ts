import { describe, expect, test } from "vitest";
import * as contract from "#lib/identity/keys/contract.ts";
import { listServiceAccounts } from "#lib/identity/keys/list-service-accounts.ts";
import { revokeServiceAccount } from "#lib/identity/keys/revoke-service-account.ts";
import { rotateServiceAccountKey } from "#lib/identity/keys/rotate-service-account-key.ts";
import { useDatabase } from "#test/database.ts";
import { newKey, newOrganization, type Agent, type Owner } from "#test/identity.ts";
import { send } from "#test/tenant.ts";

useDatabase();

const list = ({ credential }: Owner, query = "") =>
  send(contract.listServiceAccounts, listServiceAccounts, { as: credential, query });

const previewOf = (apiKey: string): string => `${apiKey.split("_").slice(0, 3).join("_")}_…${apiKey.slice(-4)}`;

const shown = ({ serviceAccountId, apiKey }: Agent) => ({ serviceAccountId, keyPreview: previewOf(apiKey) });

describe("listServiceAccounts", () => {
  test("each account shows the preview of its own newest key", async () => {
    const [owner, other] = [await newOrganization(), await newOrganization()];
    const [first, second] = [await newKey(owner), await newKey(owner)];
    await newKey(other);
    expect((await list(owner)).data.items).toMatchObject([shown(second), shown(first)]);
    const rotated = await send(contract.rotateServiceAccountKey, rotateServiceAccountKey, {
      as: owner.credential,
      id: first.serviceAccountId,
      body: { gracePeriodSeconds: 60 },
    });
    const apiKey = rotated.data.apiKey ?? "";
    expect((await list(owner)).data.items).toMatchObject([shown(second), shown({ ...first, apiKey })]);
    const revoked = await send(contract.revokeServiceAccount, revokeServiceAccount, {
      as: owner.credential,
      id: second.serviceAccountId,
    });
    expect(revoked.data.keyPreview).toBe(previewOf(second.apiKey));
    expect((await list(owner)).data.items).toMatchObject([shown({ ...first, apiKey })]);
  });

  test("the body has only items, newest first, without keys; the next page is in the Link header", async () => {
    const owner = await newOrganization();
    const made: string[] = [];
    for (let at = 0; at < 5; at += 1) made.unshift((await newKey(owner)).serviceAccountId);
    await newKey(await newOrganization());
    const met: string[] = [];
    let query = "?limit=2";
    for (let turn = 0; turn < 3; turn += 1) {
      const { data, headers } = await send(contract.listServiceAccounts, listServiceAccounts, { query, as: owner.credential });
      expect(Object.keys(data)).toEqual(["items"]);
      for (const item of data.items) expect(item).not.toHaveProperty("apiKey");
      met.push(...data.items.map(({ serviceAccountId }) => serviceAccountId));
      const link = /<([^>]+)>; rel="next"/.exec(headers.get("link") ?? "")?.[1];
      expect(link !== undefined).toBe(turn < 2);
      query = link?.slice(link.indexOf("?")) ?? "";
    }
    expect(met).toEqual(made);
  });

  test("400 for an invented cursor", async () => {
    const owner = await newOrganization();
    const { problem } = await send(contract.listServiceAccounts, listServiceAccounts, {
      query: "?cursor=x",
      as: owner.credential,
    });
    expect(problem.errors?.[0]?.pointer).toBe("/query/cursor");
  });
});
