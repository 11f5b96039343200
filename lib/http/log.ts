import pino, { type DestinationStream, type Logger } from "pino";
import { isProblem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

const SECRET_NAMES = [
  "authorization",
  "cookie",
  "set-cookie",
  "apiKey",
  "secret",
  "password",
  "token",
  "credential",
  "paymentCredential",
  "credentialHeaders",
  "privateKey",
  "setupCode",
  "continuationToken",
  "PAYMENT-SIGNATURE",
];

/** What looks like a secret whatever it is called: our keys and tokens, bearer values, long base64 and private keys. */
const SECRET_TEXT =
  /\b(?:csk|cst)_[A-Za-z0-9_-]+|\bBearer\s+\S+|\b0x[0-9a-fA-F]{64,}|[A-Za-z0-9+/_-]{80,}={0,2}|:\/\/[^\s/@:]+:[^\s/@]+@/gi;

const BREAKS = /[\r\n\u0085\u2028\u2029]+/g;
const TEXT_MAX = 2_000;

/** One line of text without secrets. */
export const safeText = (text: string): string => text.slice(0, TEXT_MAX).replace(BREAKS, " ").replace(SECRET_TEXT, "[redacted]");

const own = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** An allow-list: database errors carry the row's values in other fields, and those never reach a log. */
function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: safeText(String(error)) };
  const code = own(error, "code");
  const table = own(error, "table_name");
  const constraint = own(error, "constraint_name");
  return {
    name: error.name,
    // A query error's message is the query with its parameters.
    message: error.message.startsWith("Failed query") ? "Failed query" : safeText(error.message),
    ...(typeof code === "string" && { code }),
    ...(typeof table === "string" && { table }),
    ...(typeof constraint === "string" && { constraint }),
    ...(isProblem(error) && { problem: error.code }),
    frames: (error.stack ?? "")
      .split("\n")
      .filter((line) => line.startsWith("    at "))
      .slice(0, 8)
      .map((line) => safeText(line.trim())),
    ...(error.cause !== undefined && { cause: serializeError(error.cause) }),
  };
}

/** Where tests look for canary secrets. */
export function createLogger(destination: DestinationStream, level = "info"): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      serializers: { error: serializeError, err: serializeError, request: () => "[omitted]", headers: () => "[omitted]" },
      redact: { paths: SECRET_NAMES.flatMap((name) => [`["${name}"]`, `*["${name}"]`, `*.*["${name}"]`]), censor: "[redacted]" },
      hooks: {
        logMethod(args, method) {
          for (const [at, arg] of args.entries()) if (typeof arg === "string") args[at] = safeText(arg);
          method.apply(this, args);
        },
      },
    },
    destination,
  );
}

/** The process's log: JSON lines on standard output. The level is read without env(), which must not throw in here. */
export const log = (): Logger => perProcess("log", () => createLogger(process.stdout, process.env["LOG_LEVEL"] ?? "info"));
