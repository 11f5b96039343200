import { createHmac } from "node:crypto";
import { Resolver } from "node:dns/promises";
import { env } from "#lib/env.ts";
import { isProblem, Problem } from "#lib/problem.ts";
import { guardedFetch } from "#lib/outbound/guarded-fetch.ts";

type Claim = { readonly environment: string; readonly sellerId: string; readonly domain: string };

const FILE = "/.well-known/countersign.txt";
const DNS_MS = 2_000;

/** The token is computed from the seller's id and domain, so it is not stored; no two sellers have the same token. */
const domainToken = ({ environment, sellerId, domain }: Claim): string =>
  `countersign-domain=${createHmac("sha256", env().API_KEY_SECRET)
    .update(`seller domain\n${environment}\n${sellerId}\n${domain}`)
    .digest("base64url")}`;

/** Whether the domain is a host of this machine. Only these have a port, and only the sandbox has sellers at such hosts. */
export const isLocalDomain = (domain: string): boolean => domain.includes(":");

const fileUrl = (domain: string): string => `${isLocalDomain(domain) ? "http" : "https"}://${domain}${FILE}`;
const recordName = (domain: string): string => `_countersign.${domain}`;

const hasLine = (text: string, token: string): boolean => text.split(/\r?\n/).some((line) => line.trim() === token);

/** A redirect to another host proves nothing about this domain. */
async function inFile(domain: string, token: string): Promise<boolean> {
  const { status, text, url } = await guardedFetch(fileUrl(domain), { expect: "text" });
  return status === 200 && new URL(url).host === domain && hasLine(text, token);
}

type ResolveTxt = (name: string) => Promise<readonly (readonly string[])[]>;

const resolveTxt: ResolveTxt = (name) => new Resolver({ timeout: DNS_MS, tries: 2 }).resolveTxt(name);

/** False if the DNS query fails. DNS splits a record into strings of at most 255 characters, so they are joined first. */
export async function inDns(domain: string, token: string, resolve: ResolveTxt = resolveTxt): Promise<boolean> {
  const records = await resolve(recordName(domain)).catch(() => []);
  return records.some((pieces) => hasLine(pieces.join(""), token));
}

/** The token and the places for it: the address of the file, and the name of the DNS record if the domain can have one. */
export type DomainProof = { readonly token: string; readonly url: string; readonly dnsName?: string };

export function proofOf(claim: Claim): DomainProof {
  const { domain } = claim;
  return { token: domainToken(claim), url: fileUrl(domain), ...(!isLocalDomain(domain) && { dnsName: recordName(domain) }) };
}

function instructions(proof: DomainProof) {
  const metadata = { ...proof, ...(proof.dnsName !== undefined && { dnsType: "TXT" }) };
  const description = `Publish this line and ask again: ${proof.token}`;
  return { type: "verify_seller", label: "Publish the token", description, metadata } as const;
}

/** Both problems say what to publish and where. @throws Problem storefront_invalid, storefront_unavailable */
export async function requireProof(method: "wellKnown" | "dns", claim: Claim): Promise<void> {
  const { domain } = claim;
  const proof = proofOf(claim);
  const { token } = proof;
  const publish = instructions(proof);
  const proven = await (method === "dns" ? inDns(domain, token) : inFile(domain, token)).catch((error: unknown) => {
    if (!isProblem(error)) throw error;
    const details = { detail: error.details.detail, nextActions: [publish] };
    throw error.code === "storefront_unavailable"
      ? new Problem("storefront_unavailable", details)
      : new Problem("storefront_invalid", details);
  });
  if (proven) return;
  const place = method === "dns" ? `the TXT records of ${recordName(domain)}` : fileUrl(domain);
  throw new Problem("storefront_invalid", { detail: `This seller's token is not in ${place}.`, nextActions: [publish] });
}
