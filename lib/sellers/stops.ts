import { Problem } from "#lib/problem.ts";

/*
 * An emergency stop applies to a seller and to every payee with the seller's verified domain or with an address that the seller had proven.
 * A domain or address that the seller had only claimed may belong to somebody else, so it stops only payees that have proven nothing.
 */

/** How a stop reaches a domain or an address. */
export type StopOver = "proven" | "claimed" | null;

/** One domain or address that a stop reaches. */
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
  /** How a stop reaches the address. A claim of the stopped seller does not reach an address that the payee has proven by a signature. */
  readonly overAddress: StopOver;
};

/** Why a payee cannot be paid: a proven domain or address is stopped, or the payee must first prove that it is not the stopped seller. */
export type PayeeStop = "stopped" | "unproven" | null;

export function stopOf({ stopped, verified, overDomain, overAddress }: PayeeFacts): PayeeStop {
  if (stopped || overDomain === "proven" || overAddress === "proven") return "stopped";
  return !verified && (overDomain === "claimed" || overAddress === "claimed") ? "unproven" : null;
}

const WWW = "www.";

/** The domain with its subdomains. For www.example.com also example.com, because the two rarely have different owners. */
export function domainsReached(domain: string): readonly Pick<Reach, "value" | "subdomains">[] {
  const bare = domain.startsWith(WWW) ? domain.slice(WWW.length) : "";
  const twin = bare.includes(".") ? [{ value: bare, subdomains: false }] : [];
  return [{ value: domain, subdomains: true }, ...twin];
}

/** A seller that was stopped in an emergency stays stopped, under this record and under a new one. */
export const sellerStopped = (): Problem =>
  new Problem("conflict", {
    detail: "The platform stopped this seller in an emergency. It cannot be verified or registered again.",
    nextActions: [{ type: "contact_support", label: "Ask the platform's support" }],
  });
