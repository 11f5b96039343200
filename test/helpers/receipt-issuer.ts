import { createHash } from "node:crypto";

const ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const asset = "eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const ISSUER = "https://pay.example.com";
export const chain = "org_01kaj4n7v8e2m0x3c9t5q6r7s0";

/** Objects whose members the tests may change, also those that the types do not name. */
export type Members = Record<string, unknown>;
type Event = Members & { metadata: Members };
type Claims = Members & { mandate: Members; log: Members; approval: Members; settlement: Members };
type Proven = Members & { event: string; path: string[] };
type Proof = Proven & { log: Proven; head: string };
type Tree = { size: number; index: number };
type Kind = "authorization" | "approval" | "execution";
export type Changes = {
  kind?: Kind;
  tree?: Tree;
  log?: Tree;
  event?: (event: Event) => void;
  eventText?: (text: string) => string;
  receipt?: (claims: Claims) => void;
  checkpoint?: (event: Event) => void;
  head?: (claims: Members) => void;
  proof?: (proof: Proof) => void;
};

const keys = await crypto.subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]);
const { x, y } = await crypto.subtle.exportKey("jwk", keys.publicKey);
export const kid = createHash("sha256")
  .update(JSON.stringify({ crv: "P-256", kty: "EC", x, y }))
  .digest("base64url");
export const jwks = { keys: [{ kid: "another" }, { kty: "EC", crv: "P-256", x, y, kid, use: "sig", alg: "ES256" }] };

const encode = (text: string | Uint8Array): string => Buffer.from(text).toString("base64url");

export async function signText(
  header: string | Uint8Array,
  payload: string | Uint8Array,
  half: "low" | "high" = "low",
): Promise<string> {
  const input = `${encode(header)}.${encode(payload)}`;
  const signed = await crypto.subtle.sign({ name: "ECDSA", hash: "SHA-256" }, keys.privateKey, Buffer.from(input));
  const [r, s] = [Buffer.from(signed).subarray(0, 32), BigInt(`0x${Buffer.from(signed).subarray(32).toString("hex")}`)];
  const isOther = s > ORDER / 2n === (half === "low");
  const chosen = (isOther ? ORDER - s : s).toString(16).padStart(64, "0");
  return `${input}.${encode(Buffer.concat([r, Buffer.from(chosen, "hex")]))}`;
}
export const headerOf = (typ: string): Members => ({ alg: "ES256", kid, typ });
const sign = (typ: string, claims: Members): Promise<string> => signText(JSON.stringify(headerOf(typ)), JSON.stringify(claims));

/** The hashes of a Merkle tree, exactly as RFC 9162, section 2.1 defines them. */
const hash = (prefix: number, ...parts: (Buffer | string)[]): Buffer =>
  createHash("sha256")
    .update(Buffer.concat([Buffer.from([prefix]), ...parts.map((part) => Buffer.from(part as string))]))
    .digest();
const splitOf = (n: number): number => 2 ** (Math.ceil(Math.log2(n)) - 1);
function treeHash(leaves: readonly string[]): Buffer {
  if (leaves.length === 1) return hash(0, leaves[0] ?? "");
  const k = splitOf(leaves.length);
  return hash(1, treeHash(leaves.slice(0, k)), treeHash(leaves.slice(k)));
}
function pathOf(index: number, leaves: readonly string[]): string[] {
  if (leaves.length === 1) return [];
  const k = splitOf(leaves.length);
  const [left, right] = [leaves.slice(0, k), leaves.slice(k)];
  if (index < k) return [...pathOf(index, left), treeHash(right).toString("hex")];
  return [...pathOf(index - k, right), treeHash(left).toString("hex")];
}

function logOf(event: string, { size, index }: Tree): { proof: Proven; root: string } {
  const leaves = Array.from({ length: size }, (_, at) => (at === index ? event : `{"another":${at}}`));
  return {
    proof: { event, leafIndex: index, treeSize: size, path: pathOf(index, leaves) },
    root: treeHash(leaves).toString("hex"),
  };
}

export function claimsAndEvent(kind: Kind): { claims: Members; event: Event } {
  const claims = { iss: ISSUER, iat: 1_795_000_000, sub: "auth_1", kind, outcome: "allow", mandate: { id: "man_1", version: 3 } };
  const terms = { agent: "sa_1", payee: { domain: "data.example.com" }, amount: "500000", decimals: 6, asset };
  if (kind === "authorization") {
    const metadata = { amount: "0.5", chain: "eip155:84532", mandateId: "man_1", policyDecisionId: "dec_1", policyVersion: 3 };
    const event = { entityId: "auth_1", metadata, subjectId: "sa_1", type: "payment.authorized" };
    return { claims: { ...claims, ...terms, jti: "dec_1" }, event };
  }
  if (kind === "approval") {
    const approval = { id: "apr_1", basketHash: "aa".repeat(32), assurance: "passkeyApproved" };
    const payTo = "0x209693bc6afc0c5328ba36faf03c514ef312287c";
    const { id: approvalId, basketHash, assurance: assuranceLevel } = approval;
    const ids = { approvalId, authorizationId: "auth_1", mandateId: "man_1" };
    const metadata = { ...ids, basketHash, assuranceLevel, amountAtomic: "500000", chain: "eip155:84532", payTo };
    const event = { entityId: "cki_1", metadata, subjectId: "sa_1", type: "checkout.approved" };
    return { claims: { ...claims, ...terms, payee: { ...terms.payee, payTo }, jti: "apr_1", approval }, event };
  }
  const metadata = { authorizationId: "auth_1", mandateId: "man_1", settlementReference: "0xabc" };
  const event = { entityId: "exe_1", metadata, subjectId: "system", type: "payment.settled" };
  return { claims: { ...claims, ...terms, jti: "exe_1", settlement: { status: "settled", transaction: "0xabc" } }, event };
}

export async function issue(changes: Changes = {}): Promise<{ receipt: string; proof: Proof }> {
  const { kind = "authorization", tree = { size: 57, index: 41 }, log = { size: 12, index: 8 } } = changes;
  const { claims: stated, event } = claimsAndEvent(kind);
  changes.event?.(event);
  const text = JSON.stringify(event);
  const own = logOf(changes.eventText?.(text) ?? text, tree);
  const leafHash = hash(0, own.proof.event).toString("hex");
  const claims: Members = { ...stated, log: { chain, leafIndex: tree.index, leafHash } };
  changes.receipt?.(claims as Claims);
  const metadata = { hash: own.root, sequence: tree.size };
  const checkpoint: Event = { entityId: `chain:${chain}`, metadata, type: "auditChain.signed" };
  changes.checkpoint?.(checkpoint);
  const outer = logOf(JSON.stringify(checkpoint), log);
  const head = { iss: ISSUER, iat: 1_795_000_060, log: "checkpoints", size: log.size, root: outer.root };
  changes.head?.(head);
  const proof = { ...own.proof, log: outer.proof, head: await sign("log-head+jwt", head) };
  changes.proof?.(proof);
  return { receipt: await sign("decision-receipt+jwt", claims), proof };
}
