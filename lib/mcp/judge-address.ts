import { judgeDomain } from "#lib/mandates/rules-seller.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import type { Policy } from "#lib/mandates/policy-schema.ts";

const setOf = (list: readonly string[] | undefined): ReadonlySet<string> | null => (list === undefined ? null : new Set(list));

/**
 * Why the mandate does not let an agent call this address, or null. It is asked before the first byte is sent. A POST changes something at
 * the other end, so the mandate must admit its domain by name.
 */
export function refuseAddress(method: "GET" | "POST", url: string, { domains }: Pick<Policy, "domains">): string | null {
  const { host } = new URL(url);
  const judged = judgeDomain({ allow: setOf(domains?.allow), deny: setOf(domains?.deny) }, host);
  if (judged === "forbidden") return `The mandate forbids ${host}.`;
  if (judged === "notListed") return `The mandate does not admit ${host}.`;
  if (method === "POST" && judged !== "listed")
    return `A POST goes only to domains that the mandate admits by name, and it does not name ${host}.`;
  return null;
}

/** Why this mandate pays nothing for this agent now, whatever it is for; null if it may pay. authorizePayment decides about the rest. */
export function refuseMandate({ status, agents }: Pick<Mandate, "status" | "agents">, agent: string): string | null {
  if (status !== "active") return `The mandate is ${status}.`;
  return agents === undefined || agents.includes(agent) ? null : "The mandate is not for this agent.";
}
