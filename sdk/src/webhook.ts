import { CountersignError } from "./errors.ts";
import { hide } from "./hide.ts";
import type { Event } from "./operations.ts";

/** Headers of a request: those of `fetch`, or of Node's `request.headers`. Upper and lower case of names do not matter. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

export type WebhookOptions = {
  /** How far the message's time may be from now, in seconds. Default: 300. */
  readonly toleranceSeconds?: number;
};

/**
 * The message is not proven to come from the service, or is not an event. `code` says why: a header is missing, the message's
 * time is too far from now, no signature is valid, or the body is not an event. Answer 400, so that the attempt counts as failed.
 */
export class WebhookRefused extends CountersignError {
  declare readonly code: "headers" | "timestamp" | "signature" | "body";

  constructor(code: WebhookRefused["code"], message: string) {
    super(message, { nextActions: [{ type: "retry_later", label: "Answer 400: the service sends its own events again" }] });
    hide(this, { code });
  }
}

const TOLERANCE_SECONDS = 300;
/** At most so many signatures are checked, and further ones are ignored. The service sends at most four. */
const SIGNATURES_MAX = 16;

type Bytes = Uint8Array<ArrayBuffer>;
type Key = { readonly version: "v1" | "v1a"; readonly key: CryptoKey; readonly algorithm: "HMAC" | "Ed25519" };

const utf8 = new TextEncoder();

function fromBase64(text: string): Bytes | null {
  try {
    return Uint8Array.from(atob(text), (char) => char.charCodeAt(0));
  } catch {
    return null;
  }
}

async function importSecret(secret: string, use: "sign" | "verify"): Promise<CryptoKey> {
  const bytes = secret.startsWith("whsec_") ? fromBase64(secret.slice("whsec_".length)) : null;
  if (!bytes || bytes.length < 24 || bytes.length > 64)
    throw new CountersignError("A webhook secret is whsec_ and 24 to 64 bytes in base64.");
  return crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, [use]);
}

async function importKey(text: string): Promise<Key> {
  if (text.startsWith("whsec_")) return { version: "v1", key: await importSecret(text, "verify"), algorithm: "HMAC" };
  const bytes = text.startsWith("whpk_") ? fromBase64(text.slice("whpk_".length)) : null;
  if (bytes?.length !== 32)
    throw new CountersignError("A webhook key is the endpoint's secret (whsec_…) or its public key (whpk_…).");
  const key = await crypto.subtle.importKey("raw", bytes, "Ed25519", false, ["verify"]);
  return { version: "v1a", key, algorithm: "Ed25519" };
}

function headerOf(headers: WebhookHeaders, name: string): string {
  if (typeof headers.get === "function") return headers.get(name) ?? "";
  const [, value] = Object.entries(headers).find(([other]) => other.toLowerCase() === name) ?? [];
  return typeof value === "string" ? value : "";
}

function content(id: string, timestamp: string, body: Uint8Array): Bytes {
  const head = utf8.encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(head.length + body.length);
  signed.set(head);
  signed.set(body, head.length);
  return signed;
}

const signaturesIn = (header: string): readonly (readonly [version: string, signature: Bytes])[] =>
  header
    .split(" ")
    .slice(0, SIGNATURES_MAX)
    .flatMap((one) => {
      const [version = "", text = "", ...more] = one.split(",");
      const signature = fromBase64(text);
      return signature && more.length === 0 ? [[version, signature] as const] : [];
    });

const isText = (value: unknown): value is string => typeof value === "string";

function readEvent(body: Uint8Array): Event {
  let event: Partial<Event> | null = null;
  try {
    event = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body)) as Partial<Event> | null;
  } catch {
    // The body is not JSON in UTF-8. The check below refuses it.
  }
  const isEvent = isText(event?.id) && isText(event.type) && isText(event.timestamp) && typeof event.data === "object";
  if (!isEvent) throw new WebhookRefused("body", "The message is signed, but is not an event of Countersign.");
  return event as Event;
}

/**
 * Verifies a message by Standard Webhooks, and returns its event. The same event can arrive more than once and in any order: `id`
 * identifies it, and `sequence` gives its place in the order, or is 0 for a test.
 * @param body The body as it arrived. If JSON was parsed and written again, its signature is not valid.
 * @param keys The endpoint's secret (`whsec_…`, for signatures v1) or its public key (`whpk_…`, for v1a), or several while you
 * rotate them. One valid signature of one key is enough.
 * @throws WebhookRefused if the message is not proven to come from the service or is not an event; CountersignError if `body` is
 * parsed JSON, or if there is no key or one that cannot be read
 */
export async function verifyWebhook(
  headers: WebhookHeaders,
  body: string | Uint8Array,
  keys: string | readonly string[],
  { toleranceSeconds = TOLERANCE_SECONDS }: WebhookOptions = {},
): Promise<Event> {
  if (!isText(body) && !(body instanceof Uint8Array))
    throw new CountersignError("Give the body as text or bytes, as it arrived, and not as parsed JSON.");
  const known = await Promise.all((isText(keys) ? [keys] : keys).map(importKey));
  if (known.length === 0) throw new CountersignError("Give the endpoint's secret (whsec_…) or its public key (whpk_…).");
  const [id, timestamp, header] = ["webhook-id", "webhook-timestamp", "webhook-signature"].map((name) => headerOf(headers, name));
  if (!id || !timestamp || !header)
    throw new WebhookRefused("headers", "webhook-id, webhook-timestamp or webhook-signature is missing.");
  const seconds = /^\d{1,12}$/.test(timestamp) ? Number(timestamp) : Number.NaN;
  // A comparison with NaN is false, so a time that is no number is refused.
  if (!(Math.abs(Date.now() / 1_000 - seconds) <= toleranceSeconds))
    throw new WebhookRefused(
      "timestamp",
      `The message's time is not within ${toleranceSeconds} seconds of now. Check your clock.`,
    );
  const bytes = isText(body) ? utf8.encode(body) : body;
  const signed = content(id, timestamp, bytes);
  const checks = signaturesIn(header).flatMap(([version, signature]) =>
    known
      .filter((one) => one.version === version)
      .map(({ algorithm, key }) => crypto.subtle.verify(algorithm, key, signature, signed)),
  );
  if (!(await Promise.all(checks)).includes(true)) throw new WebhookRefused("signature", "No signature is valid for these keys.");
  return readEvent(bytes);
}

/** The headers of a message that is sent now, signed with a secret (v1). */
export async function signWebhook(id: string, body: string, secret: string): Promise<Record<string, string>> {
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signature = await crypto.subtle.sign(
    "HMAC",
    await importSecret(secret, "sign"),
    content(id, timestamp, utf8.encode(body)),
  );
  const text = btoa(String.fromCharCode(...new Uint8Array(signature)));
  return { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": `v1,${text}` };
}
