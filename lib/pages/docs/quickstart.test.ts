import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { firstAgentIn, sampleFor, snippetsFor } from "#lib/pages/docs/quickstart.ts";
import { sampleBody, type Sample } from "#lib/pages/docs/sample.ts";
import * as mandates from "#lib/mandates/contract.ts";
import { createMandate } from "#lib/mandates/lifecycle/create-mandate.ts";
import { activateMandate } from "#lib/mandates/lifecycle/activate-mandate.ts";
import { assetOf } from "#lib/chains/chains.ts";
import { authorizePayment } from "#lib/payments/authorize-payment.ts";
import * as payments from "#lib/payments/contract.ts";
import { useDatabase } from "#test/database.ts";
import { CHAIN } from "#test/mandates.ts";
import { createOrganization, createPerson, send } from "#test/tenant.ts";

useDatabase();

let sample: Sample;
beforeAll(() => {
  sample = sampleFor(assetOf(CHAIN, "USDC")!);
});

test("the sample's request is allowed under the sample's mandate, in a session", async () => {
  const { credential: as } = await createPerson(await createOrganization());
  const body = { name: "Quickstart", policy: sample.policy };
  const { mandateId } = (await send(mandates.createMandate, createMandate, { as, body })).data;
  await send(mandates.activateMandate, activateMandate, { as, id: mandateId });
  const fresh = { name: "first-1", expiresAt: new Date(Date.now() + 3_600_000) };
  const { status, data } = await send(payments.authorizePayment, authorizePayment, {
    as,
    body: sampleBody(mandateId, sample, fresh),
  });
  expect(status).toBe(200);
  expect(data.policyDecision).toMatchObject({ outcome: "allow", mandateId });
});

test("each snippet contains the whole request, and only the id of the reader's key", () => {
  const body = sampleBody("mdt_1", sample, { name: "first-1", expiresAt: new Date("2026-11-21T12:00:00Z") });
  const key = { serviceAccountId: "sa_1", preview: "csk_sandbox_ab…yz" };
  const snippets = snippetsFor({ baseUrl: "https://pay.example", key, body });
  expect(snippets.map(({ name }) => name)).toEqual(["curl", "TypeScript", "Python"]);
  for (const { text } of snippets) {
    expect(text).toContain("https://pay.example/api/v1/payments/authorize");
    expect(text).toContain("the key of sa_1: csk_sandbox_ab…yz");
    const json = text.slice(text.indexOf("{\n"), text.lastIndexOf("}") + 1);
    for (const name of ["mdt_1", "first-1", "2026-11-21T12:00:00.000Z"]) expect(json).toContain(name);
  }
});

test("the document of the first agent has the program, the command with the service's address, and the uses", async () => {
  const { program, command, uses } = firstAgentIn(
    await readFile(join(import.meta.dirname, "../../../docs/start/first-agent.md"), "utf8"),
  );
  expect(program).toContain("const pay = countersign({ url, apiKey, mandateId, wallet });");
  for (const line of program.split("\n").filter((one) => /^ *(import|console)/.test(one)))
    expect(await readFile(join(import.meta.dirname, "../../../examples/agent.ts"), "utf8")).toContain(line.trim());
  expect(command).toMatch(/COUNTERSIGN_URL=\$API .*node agent\.mjs/s);
  expect(uses.length).toBeGreaterThan(5);
  for (const [purpose, use] of uses)
    expect([purpose, use, /\]\(/.test(use)]).toEqual([expect.stringMatching(/\S/), expect.stringMatching(/\S/), false]);
});
