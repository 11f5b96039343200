import { sql, type SQL } from "drizzle-orm";
import fc, { type AsyncCommand } from "fast-check";
import { beforeAll, describe, expect, test } from "vitest";
import { transact } from "#lib/audit/transact.ts";
import { database, type Tx } from "#lib/db/client.ts";
import {
  captureHold,
  holdOf,
  lockMandate,
  raiseHold,
  refundHold,
  releaseHold,
  submitHold,
  type Hold,
} from "#lib/holds/hold-store.ts";
import * as contract from "#lib/mandates/contract.ts";
import { revokeMandate } from "#lib/mandates/lifecycle/revoke-mandate.ts";
import { updateMandate } from "#lib/mandates/lifecycle/update-mandate.ts";
import { lifetimeFromAuthorizations } from "#lib/mandates/window-store.ts";
import { atomicOf, parseAmount } from "#lib/money.ts";
import { sweepHolds } from "#lib/settlement/sweep.ts";
import { useDatabase } from "#test/database.ts";
import { expireNow } from "#test/holds.ts";
import { brokenSums } from "#test/invariants.ts";
import { activeMandate, assets, authorize, createBuyer, type Buyer } from "#test/mandates.ts";
import { raiseStepUp } from "#test/proofs.ts";
import { send } from "#test/tenant.ts";

/* In any order of holds, their parts, sweeps, revocations and new windows, the sums of a mandate are those of a simple model of it. */

useDatabase();

const RUNS = 40;
const SEED = 20_261_129;
const PRICE = "0.5";
const HELD = parseAmount(PRICE, 6);
let buyer: Buyer;
beforeAll(async () => {
  buyer = await createBuyer({ price: PRICE });
  await raiseStepUp(buyer.organizationId);
});

/** `kept` is true of a hold that only the outcome of its payment ends. */
type Part = { held: bigint; captured: bigint; released: bigint; refunded: bigint; kept: boolean };
type Model = { revoked: boolean; hours: number; readonly holds: Map<string, Part> };
type Real = { readonly mandateId: string; readonly plant: Plant | null };

const open = ({ held, captured, released }: Part): bigint => held - captured - released;
const counts = (part: Part): boolean => open(part) > 0n || part.captured > 0n;
const total = (holds: Iterable<Part>, of: (part: Part) => bigint): bigint => [...holds].reduce((sum, part) => sum + of(part), 0n);

/** A change of the policy gives the first window another length, and so a new key. */
const policyOf = (hours: number) => ({
  assets,
  limits: {
    perPayment: "1",
    total: "1000",
    budgets: [
      { rolling: `PT${hours}H`, amount: "1000" },
      { period: "year", timezone: "UTC", amount: "1000" },
    ],
    counts: [{ rolling: `PT${hours}H`, max: 1_000 }],
  },
});

async function agree({ holds, hours }: Model, { mandateId }: Real): Promise<void> {
  const expected = {
    spent: total(holds.values(), (part) => part.captured).toString(),
    reserved: total(holds.values(), open).toString(),
  };
  const payments = [...holds.values()].filter(counts).length;
  const [row] = await database().execute(sql`
    SELECT spent::text, reserved::text FROM mandates WHERE mandate_id = ${mandateId}`);
  expect(row).toEqual(expected);
  const windows = await database().execute(sql`
    SELECT sum(spent)::text AS spent, sum(reserved)::text AS reserved, sum(payments)::int AS payments FROM usage_buckets
    WHERE mandate_id = ${mandateId} AND window_key IN (${`PT${hours}H`}, 'year UTC') GROUP BY window_key`);
  for (const window of windows) expect(window).toEqual({ ...expected, payments });
  const used = await database().transaction((tx) => lifetimeFromAuthorizations(tx, mandateId, new Date(Date.now() + 1_000)));
  expect(used.used.toString()).toBe(String(BigInt(expected.spent) + BigInt(expected.reserved)));
  const broken = (await brokenSums()).filter(({ what, id }) => what === "ledger" && holds.has(id));
  expect(broken).toEqual([]);
}

type Plant = { readonly after: string; readonly wrong: (mandateId: string) => SQL };

/** A command that can always run. After it, the mandate's sums must equal those of the model. */
const command = (name: string, run: (model: Model, real: Real) => Promise<unknown>): AsyncCommand<Model, Real, true> => ({
  check: () => Promise.resolve(true),
  async run(model, real) {
    await run(model, real);
    if (real.plant?.after === name) await database().execute(real.plant.wrong(real.mandateId));
    await agree(model, real);
  },
  toString: () => name,
});

const some = (model: Model, at: number, fits: (part: Part) => boolean): [string, Part] | null => {
  const all = [...model.holds].filter(([, part]) => fits(part));
  return all[at % Math.max(all.length, 1)] ?? null;
};

const change = ({ mandateId }: Real, id: string, work: (tx: Tx, hold: Hold) => Promise<unknown>) =>
  transact(async (tx) => {
    await lockMandate(tx, mandateId);
    await work(tx, (await holdOf(tx, id))!);
  });

const hold = command("hold", async (model, { mandateId }) => {
  const { authorizationId, policyDecision } = await authorize(buyer, mandateId, PRICE);
  expect(policyDecision.outcome).toBe(model.revoked ? "deny" : "allow");
  if (!model.revoked) model.holds.set(authorizationId, { held: HELD, captured: 0n, released: 0n, refunded: 0n, kept: false });
});

const keep = (at: number) =>
  command("keep", async (model, real) => {
    const [id, part] = some(model, at, (one) => open(one) > 0n && !one.kept) ?? [];
    if (!id || !part) return;
    await change(real, id, submitHold);
    part.kept = true;
  });

const raise = (at: number, amount: bigint) =>
  command("raise", async (model, real) => {
    const [id, part] = some(model, at, (one) => open(one) > 0n) ?? [];
    if (!id || !part) return;
    await change(real, id, (tx, one) => raiseHold(tx, one, atomicOf(amount)));
    part.held += amount;
  });

/** In two parts at once. More than what is open is an overrun, which takes back what was released. */
const capture = (at: number, amount: bigint) =>
  command("capture", async (model, real) => {
    // A hold that was captured whole, without parts, is an x402 payment: it is final and has no more captures.
    const [id, part] = some(model, at, (one) => open(one) > 0n || one.captured !== one.held) ?? [];
    if (!id || !part) return;
    const parts = [amount, 1n];
    await Promise.all(parts.map((one) => change(real, id, (tx, row) => captureHold(tx, row, atomicOf(one)))));
    const beyond = amount + 1n - open(part);
    if (beyond > 0n) {
      const back = beyond < part.released ? beyond : part.released;
      part.released -= back;
      part.held += beyond - back;
    }
    part.captured += amount + 1n;
  });

const release = (at: number, share: number) =>
  command("release", async (model, real) => {
    const [id, part] = some(model, at, (one) => open(one) > 0n) ?? [];
    if (!id || !part) return;
    const amount = share === 0 ? open(part) : (open(part) + 1n) / 2n;
    await change(real, id, (tx, one) =>
      share === 0 ? releaseHold(tx, one, "released") : releaseHold(tx, one, "released", atomicOf(amount)),
    );
    part.released += amount;
  });

const refund = (at: number) =>
  command("refund", async (model, real) => {
    const [id, part] = some(model, at, (one) => one.captured > one.refunded) ?? [];
    if (!id || !part) return;
    const amount = (part.captured - part.refunded + 1n) / 2n;
    await change(real, id, (tx, one) => refundHold(tx, one, atomicOf(amount)));
    part.refunded += amount;
  });

const letGo = (model: Model, isDue: (part: Part) => boolean): void => {
  for (const part of model.holds.values()) if (!part.kept && isDue(part)) part.released += open(part);
};

const sweep = (most: number) =>
  command("sweep", async (model) => {
    const due = [...model.holds].filter(([, part]) => open(part) > 0n).slice(0, most);
    if (due.length > 0) await expireNow(sql`authorization_id IN ${due.map(([id]) => id)}`);
    await Promise.all([sweepHolds(), sweepHolds()]);
    letGo(model, (part) => due.some(([, one]) => one === part) || model.revoked);
  });

const revoke = command("revoke", async (model, { mandateId }) => {
  if (model.revoked) return;
  expect((await send(contract.revokeMandate, revokeMandate, { as: buyer.person.credential, id: mandateId })).status).toBe(200);
  await sweepHolds();
  model.revoked = true;
  letGo(model, () => true);
});

const newWindow = (hours: number) =>
  command("new window", async (model, { mandateId }) => {
    if (model.revoked) return;
    const body = { policy: policyOf(hours) };
    const changed = await send(contract.updateMandate, updateMandate, { as: buyer.person.credential, id: mandateId, body });
    expect(changed.status).toBe(200);
    model.hours = hours;
  });

const at = fc.nat(20);
const amount = fc.bigInt({ min: 1n, max: HELD });
const commands = fc.commands(
  [
    fc.constant(hold),
    fc.constant(hold),
    at.map(keep),
    fc.tuple(at, amount).map(([one, more]) => raise(one, more)),
    fc.tuple(at, amount).map(([one, part]) => capture(one, part)),
    fc.tuple(at, amount).map(([one, part]) => capture(one, part)),
    fc.tuple(at, fc.nat(2)).map(([one, share]) => release(one, share)),
    at.map(refund),
    fc.integer({ min: 1, max: 3 }).map(sweep),
    fc.oneof({ weight: 1, arbitrary: fc.constant(revoke) }, { weight: 3, arbitrary: fc.constant(hold) }),
    fc.integer({ min: 2, max: 5 }).map(newWindow),
  ],
  { maxCommands: 40, size: "max" },
);

const followed = (numRuns: number, seed: number, plant: Plant | null = null) =>
  fc.assert(
    fc.asyncProperty(commands, async (list) => {
      const setup = async () => ({
        model: { revoked: false, hours: 2, holds: new Map<string, Part>() },
        real: { mandateId: await activeMandate(buyer.person.credential, { policy: policyOf(2) }), plant },
      });
      await fc.asyncModelRun(setup, list);
    }),
    { numRuns, seed, endOnFailure: true },
  );

const mandate = (change_: SQL) => (id: string) => sql`UPDATE mandates SET ${change_} WHERE mandate_id = ${id}`;
const anyOf = (id: string, which: SQL) =>
  sql`(SELECT authorization_id FROM changed_reservations WHERE mandate_id = ${id} AND ${which} ORDER BY 1 LIMIT 1)`;
const inParts = sql`captured > 0 AND captured + released < amount`;

/** What each of ten defects would leave behind, as SQL, and the command after which it happens. */
const planted: Readonly<Record<string, Plant>> = {
  "a part is captured, and the whole is": {
    after: "capture",
    wrong: (id) => sql`UPDATE changed_reservations SET captured = amount - released, status = 'captured'
      WHERE authorization_id = ${anyOf(id, inParts)}`,
  },
  "a capture forgets what it frees": { after: "capture", wrong: mandate(sql`reserved = reserved + spent / 2, ceiling = NULL`) },
  "a capture forgets the windows": {
    after: "capture",
    wrong: (id) => sql`UPDATE usage_buckets SET spent = greatest(spent - 1, 0) WHERE mandate_id = ${id}`,
  },
  "a part is released, and the whole is": {
    after: "release",
    wrong: (id) => sql`UPDATE changed_reservations SET released = amount - captured, status = 'released'
      WHERE authorization_id = ${anyOf(id, sql`captured = 0 AND released > 0 AND released < amount`)}`,
  },
  "a raise is not in the budget": { after: "raise", wrong: mandate(sql`reserved = greatest(reserved - 1, 0)`) },
  "a refund frees the budget": { after: "refund", wrong: mandate(sql`spent = greatest(spent - 1, 0)`) },
  "a refund is not stored": {
    after: "refund",
    wrong: (id) => sql`UPDATE changed_reservations SET refunded = 0 WHERE authorization_id = ${anyOf(id, sql`refunded > 0`)}`,
  },
  "the sweep frees what was submitted": {
    after: "sweep",
    wrong: (id) => sql`UPDATE mandates SET reserved = reserved - r.open FROM (
      SELECT sum(amount - coalesce(captured + released, 0)) AS open FROM changed_reservations
      WHERE mandate_id = ${id} AND status = 'submitted') AS r WHERE mandate_id = ${id} AND r.open > 0`,
  },
  "a revocation ends a payment that was captured in part": {
    after: "revoke",
    wrong: (id) => sql`UPDATE usage_buckets SET payments = payments - 1 WHERE mandate_id = ${id} AND payments > 0 AND spent > 0`,
  },
  "a new window counts whole holds": {
    after: "new window",
    wrong: (id) => sql`UPDATE usage_buckets b SET spent = b.spent + r.more, ceiling = NULL FROM (
      SELECT sum(released) AS more FROM changed_reservations WHERE mandate_id = ${id} AND captured > 0 AND released > 0) AS r
      WHERE mandate_id = ${id} AND r.more > 0 AND spent > 0`,
  },
};

describe("a ledger of parts", () => {
  test("the sums of a mandate and of its windows are those of a model, in any order", () => followed(RUNS, SEED), 600_000);

  test("ten planted defects are all found", async () => {
    expect(Object.keys(planted)).toHaveLength(10);
    for (const [name, plant] of Object.entries(planted))
      await expect(followed(RUNS, SEED, plant), name).rejects.toThrow("Property failed");
  }, 600_000);
});
