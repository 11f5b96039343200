import { createHmac, timingSafeEqual } from "node:crypto";

/** A signature is as old as this at most, and as far in the future. */
const TOLERANCE_SECONDS = 300;
const HEADER_MOST = 2_048;
const SIGNATURES_MOST = 8;

/**
 * Whether one of `secrets` signed exactly these bytes, as Stripe signs webhooks: `header` is "t=<seconds>,v1=<hex>", and v1 is the
 * HMAC-SHA-256 of "<t>.<body>". Source: https://docs.stripe.com/webhooks#verify-manually
 */
export function isSignedByStripe(body: Uint8Array, header: string, secrets: readonly string[], now: Date): boolean {
  if (header.length > HEADER_MOST) return false;
  const fields = header.split(",").map((field) => field.trim().split("=") as [name: string, value?: string]);
  const valuesOf = (name: string): string[] => fields.flatMap(([key, value]) => (key === name && value ? [value] : []));
  const [time = "", ...others] = valuesOf("t");
  if (!/^\d{1,12}$/.test(time) || others.length > 0) return false;
  if (Math.abs(now.getTime() / 1000 - Number(time)) > TOLERANCE_SECONDS) return false;
  const given = valuesOf("v1")
    .slice(0, SIGNATURES_MOST)
    .filter((one) => /^[0-9a-f]{64}$/.test(one));
  const expected = secrets.map((secret) => createHmac("sha256", secret).update(`${time}.`).update(body).digest());
  return given.some((one) => expected.some((right) => timingSafeEqual(right, Buffer.from(one, "hex"))));
}
