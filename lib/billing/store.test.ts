import { beforeAll, describe, expect, it } from "vitest";
import { assignSubscription } from "#lib/billing/assign-subscription.ts";
import * as contract from "#lib/billing/contract.ts";
import { volumeKey } from "#lib/billing/fees.ts";
import { accrueFees, loadFeeBasis, selectFeeBasis, toFeeBasis, type CapturedPayment } from "#lib/billing/store.ts";
import { fees, monthlyVolumes } from "#lib/billing/tables.ts";
import { transact } from "#lib/audit/transact.ts";
import { database, batchPool } from "#lib/db/client.ts";
import { atomicOf } from "#lib/money.ts";
import { newSchedule, platformAdmin } from "#test/billing.ts";
import { useDatabase } from "#test/database.ts";
import { newSeller } from "#test/sellers.ts";
import { createOrganization, createPerson, send, type Credential } from "#test/tenant.ts";

useDatabase();

let admin: Credential;
let buyer: string;
let seller: string;
let sellerId: string;
beforeAll(async () => {
  admin = (await platformAdmin()).credential;
  buyer = await createOrganization();
  seller = await createOrganization();
  ({ sellerId } = await newSeller((await createPerson(seller)).credential));
});

const payment = (terms: Partial<CapturedPayment> = {}): CapturedPayment => ({
  authorizationId: "aut_1",
  organizationId: buyer,
  sellerOrganizationId: seller,
  amount: atomicOf(250_000n),
  buyerShare: atomicOf(2n),
  sellerShare: atomicOf(3n),
  asset: "USDC",
  chain: "eip155:84532",
  ...terms,
});

type Basis = Awaited<ReturnType<typeof loadFeeBasis>>;
const inOrder = (basis: Basis): Basis => ({
  ...basis,
  schedules: basis.schedules.toSorted((a, b) => a.feeScheduleId.localeCompare(b.feeScheduleId)),
});
const idsOf = (basis: Basis) => inOrder(basis).schedules.map((one) => one.feeScheduleId);

describe("selectFeeBasis", () => {
  it("reads the same for a batch as loadFeeBasis for each payment, and no schedules of other organizations", async () => {
    const other = await createOrganization();
    const terms = { asset: "USDC", flatAmount: "0.5", maximumFeeAmount: "2", effectiveUntil: "2099-01-01T00:00:00Z" };
    await newSchedule(admin, { buyerOrganizationId: buyer, sellerOrganizationId: seller, ...terms });
    await newSchedule(admin, { planTier: "team" });
    const hidden = await newSchedule(admin, { buyerOrganizationId: other });
    const foreign = await newSchedule(admin, { buyerOrganizationId: buyer, sellerOrganizationId: other });
    await newSchedule(admin, { status: "draft" });
    await send(contract.assignSubscription, assignSubscription, { as: admin, body: { organizationId: buyer, tier: "team" } });
    await transact((tx) => accrueFees(tx, payment({ authorizationId: "aut_0" })));
    const [row] = await selectFeeBasis(batchPool().sql, [buyer], [sellerId]);
    const basis = toFeeBasis(row);
    expect(inOrder(basis)).toEqual(inOrder(await loadFeeBasis(database(), buyer, seller)));
    expect(idsOf(basis)).toHaveLength(2);
    expect(idsOf(basis)).not.toContain(hidden.feeScheduleId);
    expect(idsOf(basis)).not.toContain(foreign.feeScheduleId);
    expect(basis.tiers.get(buyer)).toBe("team");
    expect(basis.volumes.get(volumeKey(buyer, "eip155:84532", "USDC"))).toBe(250_000n);
    expect(basis.schedules.find(({ flat }) => flat > 0n)).toMatchObject({ flat: 500_000n, minimum: null, maximum: 2_000_000n });
  });

  it("is one prepared statement for every length of the batch, also for an empty one", async () => {
    await batchPool().use(async (c) => {
      for (const length of [0, 1, 2, 256]) {
        const ids = Array.from({ length }, (_, at) => `org_${at}`);
        const [row] = await selectFeeBasis(c, ids, ids);
        expect(toFeeBasis(row).tiers.size).toBe(0);
      }
      const prepared = await c`SELECT count(*)::int AS count FROM pg_prepared_statements WHERE statement LIKE '%fee_schedules%'`;
      expect(prepared[0]?.["count"]).toBe(2); // the statement under test, and the query that counts
    });
  });

  it("ignores the tier of an ended subscription", async () => {
    const late = await createOrganization();
    const body = { organizationId: late, tier: "team", status: "canceled" };
    await send(contract.assignSubscription, assignSubscription, { as: admin, body });
    const [row] = await selectFeeBasis(batchPool().sql, [late], []);
    expect(toFeeBasis(row).tiers.size).toBe(0);
  });
});

describe("accrueFees", () => {
  const debts = async (authorizationId: string) =>
    (await database().select().from(fees)).filter((fee) => fee.authorizationId === authorizationId);

  it("records one fee for each of buyer and seller that owes something", async () => {
    await transact((tx) => accrueFees(tx, payment()));
    const owed = new Map((await debts("aut_1")).map(({ side, organizationId, amount }) => [side, { organizationId, amount }]));
    expect(owed.get("buyer")).toEqual({ organizationId: buyer, amount: 2n });
    expect(owed.get("seller")).toEqual({ organizationId: seller, amount: 3n });
    expect(owed.size).toBe(2);
  });

  it("records nothing owed if the fee is zero, and still counts the volume", async () => {
    const organizationId = await createOrganization();
    const free = payment({ authorizationId: "aut_2", organizationId, buyerShare: atomicOf(0n), sellerShare: atomicOf(0n) });
    await transact((tx) => accrueFees(tx, free));
    await transact((tx) => accrueFees(tx, free));
    expect(await debts("aut_2")).toEqual([]);
    const volumes = (await database().select().from(monthlyVolumes)).filter((row) => row.organizationId === organizationId);
    expect(volumes.map(({ gross }) => gross)).toEqual([500_000n]);
  });

  it("counts each of many parallel captures", async () => {
    const organizationId = await createOrganization();
    await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        transact((tx) => accrueFees(tx, payment({ authorizationId: `aut_p${at}`, organizationId }))),
      ),
    );
    const basis = await loadFeeBasis(database(), organizationId, null);
    expect(basis.volumes.get(volumeKey(organizationId, "eip155:84532", "USDC"))).toBe(5_000_000n);
  });
});
