import { Problem } from "#lib/problem.ts";

/*
 * A stop of a seller covers other payees at a domain or address that the seller had proved. Others may own what it only claimed:
 * there, payees that verified their domain are spared, and at an address those that signed for it.
 */

/** The stopped seller had proved the domain or address, or had only claimed it. Null if no stop applies. */
export type StopOver = "proven" | "claimed" | null;

/** One domain or address that an emergency stop covers. */
export type Reach = {
  readonly kind: "domain" | "address";
  readonly value: string;
  readonly proven: boolean;
  /** For a domain: whether its subdomains are included. */
  readonly subdomains: boolean;
};

export type PayeeFacts = {
  /** Whether the seller's own record is stopped. */
  readonly stopped: boolean;
  readonly verified: boolean;
  readonly overDomain: StopOver;
  /** Null also if the stopped seller had only claimed the address and the payee has proved it by a signature. */
  readonly overAddress: StopOver;
};

/** "unproven": the payee must first prove that it is not the stopped seller. Null: no stop forbids the payment. */
export type PayeeStop = "stopped" | "unproven" | null;

export function stopOf({ stopped, verified, overDomain, overAddress }: PayeeFacts): PayeeStop {
  if (stopped || overDomain === "proven" || overAddress === "proven") return "stopped";
  return !verified && (overDomain === "claimed" || overAddress === "claimed") ? "unproven" : null;
}

const WWW = "www.";

/** For www.example.com also example.com, because the two nearly always have the same owner. */
export function domainsReached(domain: string): readonly Pick<Reach, "value" | "subdomains">[] {
  const bare = domain.startsWith(WWW) ? domain.slice(WWW.length) : "";
  const twin = bare.includes(".") ? [{ value: bare, subdomains: false }] : [];
  return [{ value: domain, subdomains: true }, ...twin];
}

export const stoppedByPlatform = (): Problem =>
  new Problem("conflict", {
    detail: "The platform stopped this seller in an emergency. It cannot be verified or registered again.",
    nextActions: [{ type: "contact_support", label: "Ask the platform's support" }],
  });
