import pino, { type DestinationStream, type Logger } from "pino";
import { BYTES32 } from "#lib/evm.ts";
import { isProblem } from "#lib/problem.ts";
import { perProcess } from "#lib/process.ts";

const SECRET_NAME =
  /authorization|cookie|api-?key|secret|password|credential|private-?key|set-?up-?code|payment-signature|^(?:.*[a-z]T|t)oken$/i;

const SECRETS: readonly RegExp[] = [
  // API keys, continuation and invitation tokens, OAuth tokens and webhook secrets.
  /\b(?:csk|cst|cit|cso|csr|whsec)_[A-Za-z0-9+/_-]+={0,2}/,
  // Set-up codes.
  /\b[0-9A-Z]{4}(?:-[0-9A-Z]{4}){5}\b/,
  // OAuth codes, the tokens of links in mails, and session cookies.
  /[?&](?:code|token)=[^&\s]+|session_token=[^;\s]+/,
  /\bBearer\s+\S+/,
  // Private keys, and long base64 text such as a signed payment.
  /\b0x[0-9a-fA-F]{64,}|[A-Za-z0-9+/_-]{80,}={0,2}/,
  // Name and password in a URL.
  /:\/\/[^\s/@:]+:[^\s/@]+@/,
];
const SECRET_TEXT = new RegExp(SECRETS.map(({ source }) => source).join("|"), "gi");

/** A transaction hash looks like a private key, so it is logged only in a field whose name ends with hash or reference. */
const HASH_NAME = /(?:hash|reference)$/i;

const BREAKS = /[\r\n\u0085\u2028\u2029]+/g;
const TEXT_MAX = 2_000;

export const safeText = (text: string): string => text.slice(0, TEXT_MAX).replace(BREAKS, " ").replace(SECRET_TEXT, "[redacted]");

const own = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** Only these fields are copied, because other fields of a database error can contain values of the row. */
function serializeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { message: safeText(String(error)) };
  const code = own(error, "code");
  const table = own(error, "table_name");
  const constraint = own(error, "constraint_name");
  return {
    name: error.name,
    // The message of a failed query contains its parameters.
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

const DEPTH_MAX = 4;

/** Headers, requests and other class instances are left out, except errors and dates. */
function clean(name: string, value: unknown, depth: number): unknown {
  if (SECRET_NAME.test(name)) return "[redacted]";
  if (typeof value === "string") return HASH_NAME.test(name) && BYTES32.test(value) ? value : safeText(value);
  if (value instanceof Error) return serializeError(value);
  if (typeof value === "bigint" || value instanceof Date) return String(value);
  if (typeof value !== "object" || value === null) return typeof value === "function" ? "[omitted]" : value;
  if (depth === DEPTH_MAX) return "[omitted]";
  if (Array.isArray(value)) return value.slice(0, 100).map((item) => clean("", item, depth + 1));
  if (Object.getPrototypeOf(value) !== Object.prototype) return "[omitted]";
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, clean(key, item, depth + 1)]));
}

/** The destination is a parameter, so that a test can search the written text for secrets. */
export function createLogger(destination: DestinationStream, level = "info"): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: pino.stdTimeFunctions.isoTime,
      // Errors were already converted to plain values by `log` below.
      serializers: { err: (value: unknown) => value },
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => clean("", fields, 0) as Record<string, unknown>,
      },
      hooks: {
        logMethod(args, method) {
          // If the first argument is an error, pino would log its message without replacing secrets.
          const [first, text] = args as readonly unknown[];
          if (first instanceof Error)
            args.splice(0, args.length, { err: first } as never, typeof text === "string" ? text : first.name);
          for (const [at, arg] of args.entries()) if (typeof arg === "string") args[at] = safeText(arg);
          method.apply(this, args);
        },
      },
    },
    destination,
  );
}

/** The level is not read through env(), which may throw. */
export const log = (): Logger =>
  perProcess("telemetry/log", () => createLogger(process.stdout, process.env["LOG_LEVEL"] ?? "info"));
