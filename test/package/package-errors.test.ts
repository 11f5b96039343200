import { spawnSync } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { inspect } from "node:util";
import { expect, onTestFinished, test, vi } from "vitest";
import { serviceUrl } from "../../sdk/src/cli/settings.ts";
import * as sdk from "../../sdk/src/index.ts";
import { factsOf } from "../../sdk/src/facts.ts";
import { denialActions } from "../../sdk/src/operations.ts";
import { DenialCode } from "#lib/vocabulary.ts";

test("settings that cannot be read are not called settings that are not JSON", async () => {
  const folder = await mkdtemp(join(tmpdir(), "countersign-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  onTestFinished(() => void vi.unstubAllEnvs());
  vi.stubEnv("COUNTERSIGN_URL", "");
  vi.stubEnv("COUNTERSIGN_CONFIG", folder);
  await expect(serviceUrl()).rejects.toThrow(`${folder} cannot be read (EISDIR).`);
});

test("pay.fetch asks for a whole URL", async () => {
  const pay = sdk.countersign({ url: "http://127.0.0.1:9", apiKey: "csk_sandbox_x", mandateId: "mdt_1" });
  await expect(pay.fetch("")).rejects.toThrow("pay.fetch needs the whole URL, such as https://api.example.com/report.");
});

test.each([null, undefined, "no money", 7n])("%s, which is no Error, is described as an error", (thrown) => {
  expect(factsOf(thrown)).toEqual({ error: "Error", message: String(thrown), nextActions: [] });
});

const secret = "the-signature-that-pays";
const long = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`fact${at}`, secret]));
const decision = {
  reasons: [{ effect: "deny", message: "Too much." }],
  denialCode: "per_payment_limit_exceeded",
  mandateId: "mdt_1",
};
const authorization = { authorizationId: "auth_1", policyDecision: decision, intent: long } as unknown as sdk.Authorization;
const execution = { executionId: "exe_1", credentialHeaders: { "PAYMENT-SIGNATURE": secret }, ...long };
const response = new Response(secret, { status: 500, headers: long });
const attempt = { authorization, execution, receipt: long, response, result: long } as unknown as sdk.Attempt;
const step = { type: "raise_mandate_limit", label: "Raise it", href: "https://pay.example.com/mandates/mdt_1" } as const;
const problem = { code: "c", detail: "Refused.", status: 403, nextActions: [step], debug: long } as unknown as sdk.ErrorBody;
const order = { status: "failed", nextAction: { label: "It failed." }, quote: long, storefront: long, intent: {} };
const cause = new sdk.ServiceRefused(problem);
/** One error of each class that the package exports, some with other errors as their causes. */
const errors: Readonly<Record<string, Error>> = {
  CountersignError: new sdk.CountersignError("Wrong.", { cause }),
  ServiceRefused: new sdk.ServiceRefused({ ...problem, nextActions: [] }),
  ServiceUnreachable: new sdk.ServiceUnreachable("Away.", { cause: new TypeError("fetch failed", { cause }) }),
  SellerUnreachable: new sdk.SellerUnreachable("Away.", { cause }),
  ChallengeRefused: new sdk.ChallengeRefused("No offer fits."),
  PaymentDenied: new sdk.PaymentDenied(authorization, "https://pay.example.com"),
  ApprovalRequired: new sdk.ApprovalRequired("https://pay.example.com/checkout/cki_1"),
  ApprovalDeclined: new sdk.ApprovalDeclined("No.", { cause, nextActions: [] }),
  ApprovalExpired: new sdk.ApprovalExpired("Late.", { cause }),
  AuthorizationEnded: new sdk.AuthorizationEnded("Ended.", { cause }),
  PaymentFailed: new sdk.PaymentFailed(authorization, "insufficient_funds", "Too little."),
  NotServed: new sdk.NotServed({ ...attempt, cause }),
  PaidButNotServed: new sdk.PaidButNotServed({ ...attempt, cause }),
  OrderNotPlaced: new sdk.OrderNotPlaced(order as unknown as sdk.PlacedOrder),
  WebhookRefused: new sdk.WebhookRefused("signature", "No signature is valid."),
};

test("one error of each class is tested here", () => {
  const classes = Object.entries(sdk).filter(([, one]) => typeof one === "function" && one.prototype instanceof Error);
  expect(Object.keys(errors).toSorted()).toEqual(classes.map(([name]) => name).toSorted());
  for (const [name, error] of Object.entries(errors)) expect(error.name).toBe(name);
});

test.each(Object.entries(errors))(
  "%s is printed as its name, its sentence and the next step, without a credential",
  (name, error) => {
    const { nextActions } = error as sdk.CountersignError;
    expect(nextActions.length).toBeGreaterThan(0);
    // Node prints an error that nobody catches with these options.
    for (const text of [
      inspect(error),
      inspect(error, { customInspect: false, depth: 5 }),
      JSON.stringify(error),
      String(error.stack),
    ]) {
      expect(text).not.toContain(secret);
      expect(text.split("\n").length).toBeLessThan(60);
      if (text.startsWith("{")) continue;
      expect(text).toContain(`${name}: ${error.message}\n  Next: ${nextActions[0]?.label}`);
      if (nextActions[0]?.href !== undefined) expect(text).toContain(`(${nextActions[0].href})`);
    }
  },
);

test("an error that nobody catches ends Node with the sentence, the next step and the link", () => {
  const source = join(import.meta.dirname, "../../sdk/src/errors.ts");
  const program = `import { ServiceRefused, NotServed } from ${JSON.stringify(source)};
    const cause = new ServiceRefused(${JSON.stringify(problem)});
    throw new NotServed({ cause, execution: ${JSON.stringify(execution)} });`;
  const { status, stderr } = spawnSync(process.execPath, ["--input-type=module-typescript", "--eval", program], {
    encoding: "utf8",
  });
  expect(status).toBe(1);
  expect(stderr).toMatch(/NotServed: The seller did not serve.*\n {2}Next: Call again with the same operation/);
  expect(stderr).toContain("Next: Raise it (https://pay.example.com/mandates/mdt_1)");
  expect(stderr).not.toContain(secret);
  expect(stderr.split("\n").length).toBeLessThan(40);
});

test.each(DenialCode.options)("a payment denied as %s has a next action", (denialCode) => {
  const denied = { policyDecision: { ...decision, denialCode } } as unknown as sdk.Authorization;
  expect(new sdk.PaymentDenied(denied).nextActions).toEqual(denialActions[denialCode]);
  expect(denialActions[denialCode].length).toBeGreaterThan(0);
});
