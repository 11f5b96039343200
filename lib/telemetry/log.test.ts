import { describe, expect, test } from "vitest";
import { continuationTokenOf } from "#lib/approvals/decision/continuation-token.ts";
import { newApiKey } from "#lib/identity/keys/api-key.ts";
import { invitationTokenOf } from "#lib/identity/members/invitation-token.ts";
import { ACCESS_TOKEN_PREFIX, REFRESH_TOKEN_PREFIX } from "#lib/identity/oauth-terms.ts";
import { newId } from "#lib/ids.ts";
import { createLogger, safeText } from "#lib/telemetry/log.ts";
import { newSecrets, publicKeyText, secretText } from "#lib/webhooks/secrets.ts";
import { Problem } from "#lib/problem.ts";

const written = (log: (logger: ReturnType<typeof createLogger>) => void): string => {
  const lines: string[] = [];
  log(createLogger({ write: (line) => lines.push(line) }, "trace"));
  return lines.join("");
};

const key = "csk_sandbox_01kaj4n7v8e2m0x3c9t5q6r7s8_canarycanarycanarycanarycanarycanary0";
const credential = Buffer.from("canary ".repeat(40)).toString("base64");
const privateKey = `0x${"c0ffee".repeat(11)}`.slice(0, 66);

describe("log", () => {
  test.each([
    ["a key in the message", (logger: ReturnType<typeof createLogger>) => logger.info(`asked with Bearer ${key}`)],
    ["a key in a field", (logger) => logger.info({ detail: `key ${key}` }, "x")],
    ["a key deep inside", (logger) => logger.info({ a: { b: [{ note: key }] } }, "x")],
    ["an authorization header", (logger) => logger.info({ headers: { Authorization: "canary", cookie: "canary" } }, "x")],
    ["a Headers object", (logger) => logger.info({ headers: new Headers({ authorization: `Bearer ${key}` }) }, "x")],
    [
      "a Request",
      (logger) => logger.info({ request: new Request("http://x/?token=canary", { headers: { cookie: "canary" } }) }, "x"),
    ],
    [
      "fields by name",
      (logger) =>
        logger.info(
          {
            apiKey: "canary",
            paymentCredential: "canary",
            newPassword: "canary",
            sessionToken: "canary",
            API_KEY_SECRET: "canary",
            setupCode: "canary",
          },
          "x",
        ),
    ],
    ["a payment credential", (logger) => logger.info({ body: credential }, `sent ${credential}`)],
    ["a private key", (logger) => logger.error({ err: new Error(`signing with ${privateKey} failed`) }, "x")],
    ["a database address", (logger) => logger.error(new Error("connect postgres://user:canary@db:5432/x"))],
    [
      "a query's parameters",
      (logger) =>
        logger.error(
          {
            err: new Error("Failed query: insert … params: canary", {
              cause: Object.assign(new Error("duplicate key"), {
                code: "23505",
                detail: "Key (secret)=(canary) exists",
                parameters: ["canary"],
                query: "canary",
              }),
            }),
          },
          "x",
        ),
    ],
    ["a secret in a cause", (logger) => logger.error({ err: new Error("outer", { cause: new Error(`Bearer ${key}`) }) }, "x")],
    [
      "a problem's details",
      (logger) => logger.warn({ err: new Problem("conflict", { detail: "no", payment: { payer: "canary" } }) }, "x"),
    ],
  ] as [string, (logger: ReturnType<typeof createLogger>) => void][])("redacts %s", (_name, log) => {
    const text = written(log);
    expect(text).not.toBe("");
    expect(text).not.toMatch(/canary|c0ffeec0ffee|Y2FuYXJ5/);
  });

  test.each([
    ["an API key", newApiKey("production").apiKey],
    ["a continuation token", continuationTokenOf(newId("continuationToken"))],
    ["an invitation token", invitationTokenOf(newId("invitation"))],
    ["an OAuth access token", `${ACCESS_TOKEN_PREFIX}${"aB".repeat(16)}`],
    ["an OAuth refresh token", `${REFRESH_TOKEN_PREFIX}${"aB".repeat(16)}`],
    ["a webhook secret", secretText(newSecrets())],
    ["a webhook secret with + and /", `whsec_${"+/".repeat(21)}A=`],
    ["a set-up code", "0123-4567-89AB-CDEF-GHJK-MNPQ"],
    ["the token of a link in a mail", "aB3_".repeat(8), "/sign-in/link?returnTo=%2Fhome&token="],
    ["an OAuth code", "aB3_".repeat(10), "http://127.0.0.1:4711/callback?state=x&code="],
    ["an OAuth code in a form", "aB3_".repeat(10), "grant_type=authorization_code&code="],
    ["the token of a session", `${"aB3".repeat(10)}.${"aB%2F".repeat(8)}%3D`, "cookie: countersign.session_token="],
  ])("redacts %s in a text", (_name, secret, before = "refused ") => {
    const text = safeText(`${before}${secret} at once`);
    expect(text).toMatch(/\[redacted\] at once$/);
    for (let at = 0; at + 12 <= secret.length; at += 1) expect(text).not.toContain(secret.slice(at, at + 12));
  });

  test.each([
    newId("authorization"),
    crypto.randomUUID(),
    "connect ECONNREFUSED, code=23505",
    publicKeyText(newSecrets()),
    "2026-11-21T10:00:00.000Z",
  ])("does not redact %s", (text) => expect(safeText(`about ${text} at once`)).toBe(`about ${text} at once`));

  test("writes one line per event, whatever it contains", () => {
    const text = written((logger) => logger.info({ name: "a\r\nb\u2028c" }, 'first\n{"level":"fatal"}'));
    expect(text.trimEnd().split(/[\r\n\u2028]/)).toHaveLength(1);
  });

  test("contains SQLSTATE, problem code and request id", () => {
    const cause = Object.assign(new Error("boom"), { code: "23505", constraint_name: "intents_pkey" });
    const line = JSON.parse(
      written((logger) => logger.error({ requestId: "req_1", err: new Error("Failed query: x", { cause }) }, "Unexpected error")),
    );
    expect(line).toMatchObject({
      level: "error",
      requestId: "req_1",
      message: "Unexpected error",
      err: { message: "Failed query", cause: { code: "23505", constraint: "intents_pkey" } },
    });
  });
});
