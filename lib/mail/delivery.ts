import { env } from "#lib/env.ts";

/**
 * Where mail goes: to the SMTP server if one is set; else in a sandbox to the outbox that a developer reads at /outbox; else nowhere.
 */
export function mailDelivery(): "smtp" | "outbox" | "none" {
  const { SMTP_URL, ENVIRONMENT } = env();
  if (SMTP_URL !== undefined) return "smtp";
  return ENVIRONMENT === "sandbox" ? "outbox" : "none";
}
