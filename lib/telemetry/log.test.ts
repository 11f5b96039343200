import { describe, expect, test } from "vitest";
import { createLogger } from "#lib/telemetry/log.ts";
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
