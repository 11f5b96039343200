import { sql } from "drizzle-orm";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { accrueFees } from "#lib/billing/store.ts";
import { exportFees, viewStatement } from "#lib/pages/settings/view-statement.ts";
import { database } from "#lib/db/client.ts";
import { env } from "#lib/env.ts";
import { atomicOf, zero } from "#lib/money.ts";
import { forget } from "#lib/process.ts";
import { callerOf } from "#test/caller.ts";
import { useDatabase } from "#test/database.ts";
import { createOrganization, createPerson, type Credential } from "#test/tenant.ts";

useDatabase();

let buyer: Credential;
let seller: Credential;
beforeAll(async () => {
  const [organizationId, sellerOrganizationId] = [await createOrganization(), await createOrganization("Shop")];
  buyer = (await createPerson(organizationId, "finance")).credential;
  seller = (await createPerson(sellerOrganizationId)).credential;
  for (let at = 0; at < 22; at += 1) {
    await transact((tx) =>
      accrueFees(tx, {
        authorizationId: `aut_${at}`,
        organizationId,
        sellerOrganizationId,
        amount: atomicOf(250_000n),
        buyerShare: atomicOf(2_500n),
        sellerShare: atomicOf(1n),
        asset: "USDC",
        chain: "eip155:84532",
      }),
    );
  }
  await database().execute(sql`UPDATE fees SET created_at = '2026-01-31T23:59:59Z' WHERE authorization_id = 'aut_0'`);
  await database().execute(sql`UPDATE fees SET created_at = '2026-02-01T00:00:00Z' WHERE authorization_id = 'aut_1'`);
});

const first = { month: undefined, cursor: undefined };

describe("viewStatement", () => {
  test("shows this month by default: the fees that the organization owes as a buyer and as a seller, and what its agents paid", async () => {
    const { lines, month, current, volumes, fees } = await viewStatement(await callerOf(buyer), first);
    expect(month).toBe(current);
    expect(lines).toEqual([{ month, asset: "USDC", asBuyer: "0.05", asSeller: "0", total: "0.05", payments: 20 }]);
    expect(volumes).toEqual([{ asset: "USDC", gross: "5.5" }]);
    expect(fees).toHaveLength(20);
    const shop = await viewStatement(await callerOf(seller), first);
    expect(shop.lines).toMatchObject([{ asBuyer: "0", asSeller: "0.00002", payments: 20 }]);
    expect(shop.volumes).toEqual([]);
  });

  test("an asset that has other fraction digits on another chain is added up in whole units", async () => {
    const before = process.env["CHAINS"];
    const configure = (chains: string | undefined): void => {
      if (chains === undefined) delete process.env["CHAINS"];
      else process.env["CHAINS"] = chains;
      forget("env");
    };
    const [own] = env().CHAINS;
    const assets = own!.assets.map((asset) => ({ ...asset, tokenDecimals: 18 }));
    configure(JSON.stringify([own, { ...own, chain: "eip155:56", assets }]));
    onTestFinished(() => configure(before));
    const organizationId = await createOrganization();
    const payments = [
      { chain: own!.chain, unit: 1_000_000n },
      { chain: "eip155:56", unit: 10n ** 18n },
    ];
    for (const { chain, unit } of payments) {
      const shares = { buyerShare: atomicOf(unit / 100n), sellerShare: zero };
      const payment = { ...shares, authorizationId: `aut_${chain}`, organizationId, sellerOrganizationId: null, asset: "USDC" };
      await transact((tx) => accrueFees(tx, { ...payment, chain, amount: atomicOf(unit) }));
    }
    const { credential } = await createPerson(organizationId, "finance");
    const { lines, volumes } = await viewStatement(await callerOf(credential), first);
    expect(lines).toMatchObject([{ asset: "USDC", asBuyer: "0.02", asSeller: "0", total: "0.02", payments: 2 }]);
    expect(volumes).toEqual([{ asset: "USDC", gross: "2" }]);
  });

  test("a month begins and ends at midnight UTC", async () => {
    const january = await viewStatement(await callerOf(buyer), { month: "2026-01", cursor: undefined });
    expect(january.fees.map(({ authorizationId }) => authorizationId)).toEqual(["aut_0"]);
    const february = await viewStatement(await callerOf(buyer), { month: "2026-02", cursor: undefined });
    expect(february.fees.map(({ authorizationId }) => authorizationId)).toEqual(["aut_1"]);
  });

  test("the built-in schedule applies to everybody, and no plan is shown without one", async () => {
    const { schedules, subscription } = await viewStatement(await callerOf(buyer), first);
    expect(schedules.map(({ feeScheduleId }) => feeScheduleId)).toEqual(["fs_default"]);
    expect(subscription).toBeUndefined();
  });

  test("404 for an invalid month, 403 without billing:read", async () => {
    const asked = { month: "2026-13", cursor: undefined };
    await expect(viewStatement(await callerOf(buyer), asked)).rejects.toMatchObject({ code: "not_found" });
    const approver = await createPerson(await createOrganization(), "approver");
    await expect(viewStatement(await callerOf(approver.credential), first)).rejects.toMatchObject({
      code: "capability_required",
    });
  });
});

test("the export has a line for each debt of this organization in the month", async () => {
  const { lines } = await exportFees(await callerOf(buyer), undefined);
  const text = (await Array.fromAsync(lines)).join("").split("\r\n");
  expect(text[0]).toBe("createdAt,feeId,authorizationId,side,kind,amount,asset,chain");
  expect(text.slice(1, -1)).toHaveLength(20);
  for (const line of text.slice(1, -1)) expect(line).toMatch(/,buyer,accrual,0\.0025,USDC,eip155:84532$/);
});
