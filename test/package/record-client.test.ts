import { createHash } from "node:crypto";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import * as sdk from "../../sdk/src/index.ts";
import { reject } from "#test/checkouts.ts";
import { useDatabase } from "#test/database.ts";
import { plain, run } from "#test/package.ts";
import { budgetOf, record, useRecording } from "#test/recording.ts";
import { listenService, type ListeningServer } from "#test/shop.ts";

/* `authorize` and `record` of the package `countersign` and of its command line, with the real service. */

useDatabase();
const { at, mandateFor, approved } = useRecording();
let service: ListeningServer;
beforeAll(async () => void (service = await listenService()));
afterAll(() => service.close());

const apiKey = () => at.agent["authorization"]!.slice("Bearer ".length);
const client = (mandateId: string, options: Partial<sdk.CountersignOptions> = {}) =>
  sdk.countersign({ url: service.url, apiKey: apiKey(), mandateId, ...options });
const payee = { kind: "iban", value: "DE89 3704 0044 0532 0130 00" } as const;
const idIn = (url: string): string => new URL(url).pathname.split("/").at(-1) ?? "";
const caught = (work: Promise<unknown>): Promise<unknown> => work.catch((error: unknown) => error);

test("a payment is authorized once per operation, and each part is recorded once per operation", async () => {
  const mandateId = await mandateFor("1000");
  const pay = client(mandateId);
  const invoice = {
    amount: "100",
    asset: "USD",
    seller: { name: "Ink and Co" },
    payee,
    reference: "4711",
    operation: "invoice 4711",
  };
  const { authorizationId, deadline } = await pay.authorize(invoice);
  expect(Date.parse(deadline)).toBeGreaterThan(Date.now() + 13 * 86_400_000);
  const part = { authorizationId, outcome: "partlyPaid", amount: "40", asset: "USD", operation: "first" } as const;
  expect((await pay.record(part)).payment).toMatchObject({ paid: "40", open: "60" });
  expect((await pay.record(part)).payment).toMatchObject({ paid: "40", open: "60" });
  expect(await pay.authorize(invoice)).toMatchObject({ authorizationId, paid: "40" });
  expect((await pay.record({ ...part, operation: "second" })).record).toMatchObject({ booked: "40", byAgent: true });
  expect(await budgetOf(mandateId)).toEqual([80, 20]);
  expect((await pay.payments({ operation: "invoice 4711" })).items).toHaveLength(1);
  const twice = await caught(pay.authorize({ ...invoice, operation: "the same invoice" }));
  expect(twice).toBeInstanceOf(sdk.PaymentDenied);
  expect(await caught(pay.record({ ...part, outcome: "notPaid", amount: "0" }))).toMatchObject({
    code: "idempotency_key_reused",
  });
  expect(await caught(pay.record({ ...part, outcome: "notPaid", amount: "0", operation: "none" }))).toMatchObject({
    code: "forbidden",
  });
});

test("a person is asked first, and the call returns after the approval", async () => {
  const mandateId = await mandateFor("1000", { approval: { mode: "always" } });
  const invoice = { amount: "7", asset: "USD", seller: { name: "Ink and Co" }, reference: "1", purpose: "Paper" };
  const stopping = client(mandateId, { onApproval: () => "stop" });
  expect(await caught(stopping.authorize({ ...invoice, operation: "ink" }))).toBeInstanceOf(sdk.ApprovalRequired);
  const pay = client(mandateId, { onApproval: async ({ url }) => void (await approved(idIn(url))) });
  const { authorizationId } = await pay.authorize({ ...invoice, operation: "ink" });
  expect((await pay.record({ authorizationId, outcome: "paid", amount: "7", asset: "USD" })).payment.open).toBe("0");
  const refusing = client(mandateId, {
    onApproval: async ({ url }) => void (await reject(idIn(url), at.buyer.person.credential)),
  });
  expect(await caught(refusing.authorize({ ...invoice, reference: "2" }))).toBeInstanceOf(sdk.ApprovalDeclined);
});

test("the command line authorizes, and records with the hash of a document", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-cli-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, "statement.pdf"), "paid");
  const mandateId = await mandateFor("1000");
  const command = join(import.meta.dirname, "../../sdk/src/cli.ts");
  const settings = { COUNTERSIGN_URL: service.url, COUNTERSIGN_API_KEY: apiKey(), COUNTERSIGN_MANDATE: mandateId };
  const env = { ...plain, NODE_ENV: "production" as const, NODE_OPTIONS: "", AGENT_PRIVATE_KEY: "", ...settings };
  const cli = (line: string) =>
    run(process.execPath, [command, ...line.split(" ")], { cwd: folder, env }).then(
      ({ stdout }) => ({ code: 0, stdout }),
      (error: unknown) => error as { readonly code: number; readonly stdout: string },
    );
  const asked = "authorize --amount 100 --asset USD --payee iban:DE89370400440532013000 --reference 4712 --seller Ink";
  const { authorizationId } = JSON.parse((await cli(`${asked} --operation i --json`)).stdout) as { authorizationId: string };
  expect((await cli(`${asked} --operation i`)).stdout).toMatch(
    new RegExp(`^Authorized as ${authorizationId}\\. Pay it yourself, and record it by 20.*Z\\.\n$`),
  );
  expect((await cli(`${asked} --operation another`)).code).toBe(3);
  expect((await cli(asked.replace("100", "2000").replace("4712", "1"))).code).toBe(3);
  const part = `record ${authorizationId} --amount 40 --asset USD --partly --paid-at 2026-11-21T12:00:00Z --operation p`;
  const said = await cli(`${part} --evidence statement.pdf`);
  expect(said.stdout).toBe("Recorded. 40 USD is paid so far. 60 USD is still held until a person closes the payment.\n");
  const more = await cli(`record ${authorizationId} --amount 70 --asset USD`);
  expect(more.stdout).toBe(
    "Recorded. 110 USD is paid so far. 0 USD is still held until a person closes the payment. More was paid than was held, and a person is asked.\n",
  );
  const { records = [] } = await client(mandateId).api.getPayment({ authorizationId });
  expect(records.at(-1)).toMatchObject({
    outcome: "partlyPaid",
    paidAt: "2026-11-21T12:00:00.000Z",
    evidence: { sha256: createHash("sha256").update("paid").digest("hex") },
  });
  expect((await record(at.keeper, authorizationId, "notPaid", "0")).data.payment.status).toBe("closed");
  expect((await cli(`record ${authorizationId} --amount 1 --asset EUR`)).code).toBe(7);
});
