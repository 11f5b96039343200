/*
 * An emergency stops a seller, and with it whoever is paid under what the seller had proven: its verified domain and the addresses that it
 * signed for. What it had only claimed may be somebody else's, so it stops others that proved nothing, and nobody who did.
 */

/** How a stop reaches a domain or an address. */
export type StopOver = "proven" | "claimed" | null;

/** One domain or address that a stop reaches. */
export type Reach = {
  readonly kind: "domain" | "address";
  readonly value: string;
  readonly proven: boolean;
  /** Of a domain: whether its subdomains are meant as well. */
  readonly subdomains: boolean;
};

export type PayeeFacts = {
  /** Of the seller's own record. */
  readonly stopped: boolean;
  readonly verified: boolean;
  readonly overDomain: StopOver;
  /** Null for an address that the payee has signed for, where the stopped seller had only claimed it. */
  readonly overAddress: StopOver;
};

/** Why a payee cannot be paid: it is stopped with what was proven, or it has to prove that it is somebody else. */
export type PayeeStop = "stopped" | "unproven" | null;

export function stopOf({ stopped, verified, overDomain, overAddress }: PayeeFacts): PayeeStop {
  if (stopped || overDomain === "proven" || overAddress === "proven") return "stopped";
  return !verified && (overDomain === "claimed" || overAddress === "claimed") ? "unproven" : null;
}

const WWW = "www.";

/** With its subdomains; and www.example.com is also example.com, for they are rarely two people's. */
export function domainsReached(domain: string): readonly Pick<Reach, "value" | "subdomains">[] {
  const bare = domain.startsWith(WWW) ? domain.slice(WWW.length) : "";
  const twin = bare.includes(".") ? [{ value: bare, subdomains: false }] : [];
  return [{ value: domain, subdomains: true }, ...twin];
}
