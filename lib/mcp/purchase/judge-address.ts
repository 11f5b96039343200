import type { KeyCaller } from "#lib/http/operation.ts";
import { judgeDomain } from "#lib/mandates/policy/rules-seller.ts";
import type { Mandate } from "#lib/mandates/mandate-schema.ts";
import type { Policy } from "#lib/mandates/policy/policy-schema.ts";

const setOf = (list: readonly string[] | undefined): ReadonlySet<string> | null => (list === undefined ? null : new Set(list));

/** Null if allowed. A POST may change something at the other end, so the mandate must name its domain. */
export function refuseAddress(method: "GET" | "POST", url: string, { domains }: Pick<Policy, "domains">): string | null {
  const { host } = new URL(url);
  const judged = judgeDomain({ allow: setOf(domains?.allow), deny: setOf(domains?.deny) }, host);
  if (judged === "forbidden") return `The mandate forbids ${host}.`;
  if (judged === "notListed") return `The mandate does not admit ${host}.`;
  if (method === "POST" && judged !== "listed")
    return `A POST goes only to domains that the mandate admits by name, and it does not name ${host}.`;
  return null;
}

type Named = Pick<Mandate, "mandateId" | "agents">;

export const isFor = ({ mandateId, agents }: Named, { serviceAccountId, mandateIds }: KeyCaller): boolean =>
  (agents === undefined || agents.includes(serviceAccountId)) && (mandateIds === undefined || mandateIds.includes(mandateId));

/** Null if the mandate is active and admits the agent. authorizePayment checks all other rules. */
export function refuseMandate(mandate: Named & Pick<Mandate, "status">, agent: KeyCaller): string | null {
  if (mandate.status !== "active") return `The mandate is ${mandate.status}.`;
  return isFor(mandate, agent) ? null : "This agent may not use this mandate.";
}
