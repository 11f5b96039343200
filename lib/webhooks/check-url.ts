import { outboundRules } from "#lib/outbound/guarded-fetch.ts";
import { outboundTarget } from "#lib/outbound/outbound-address.ts";
import { invalidField } from "#lib/problem.ts";

/** The URL is checked again before each message. @throws Problem invalid_request */
export function checkUrl(url: string): string {
  const target = outboundTarget(url, outboundRules());
  if (!target.ok) throw invalidField("/url", target.detail);
  return target.url.href;
}
