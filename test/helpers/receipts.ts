import { createECDH, createHash } from "node:crypto";
import { base64url, calculateJwkThumbprint, CompactSign, importJWK, type JWK } from "jose";
import { appendLeaf, inclusionPath, leafHash, nodeHash, rootOf, type Peaks, type StoredHash } from "#lib/audit/tree.ts";
import { canonicalJson } from "#lib/canonical-json.ts";
import { P256_ORDER } from "#lib/p256.ts";

/* Issues receipts as the service does, for tests of verifiers. Everything except ECDSA's random numbers is computed from fixed
   seeds. */

export type SigningKey = { readonly private: JWK; readonly public: JWK };
type Members = Readonly<Record<string, unknown>>;

export const ISSUER = "https://pay.example.com";
export const ISSUED_AT = Date.parse("2026-11-23T12:00:00.000Z") / 1_000;

export async function keyOf(seed: string): Promise<SigningKey> {
  const d = createHash("sha256").update(seed).digest();
  const curve = createECDH("prime256v1");
  curve.setPrivateKey(d);
  const point = curve.getPublicKey();
  const pair = { kty: "EC", crv: "P-256", x: base64url.encode(point.subarray(1, 33)), y: base64url.encode(point.subarray(33)) };
  const kid = await calculateJwkThumbprint(pair);
  return { private: { ...pair, d: base64url.encode(d) }, public: { ...pair, kid, use: "sig", alg: "ES256" } };
}

/** The JWS with the lower or the higher of the two valid values of s. */
export function withS(jws: string, wanted: "low" | "high"): string {
  const [header, payload, signature = ""] = jws.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const s = BigInt(`0x${bytes.subarray(32).toString("hex")}`);
  const other = P256_ORDER - s;
  const chosen = (wanted === "low") === s < other ? s : other;
  const text = chosen.toString(16).padStart(64, "0");
  return [header, payload, base64url.encode(Buffer.concat([bytes.subarray(0, 32), Buffer.from(text, "hex")]))].join(".");
}

/** Signs any payload under any header, with the lower value of s. */
export async function sign(key: SigningKey, typ: string, payload: Members | string, header: Members = {}): Promise<string> {
  const bytes = new TextEncoder().encode(typeof payload === "string" ? payload : JSON.stringify(payload));
  const jws = await new CompactSign(bytes)
    .setProtectedHeader({ alg: "ES256", kid: key.public.kid as string, typ, ...header })
    .sign(await importJWK(key.private, "ES256"));
  return withS(jws, "low");
}

/** A Merkle tree over texts. As in the service, only some of its hashes are kept. */
function treeOf(leaves: readonly string[]): { readonly root: string; readonly stored: StoredHash } {
  let peaks: Peaks = [];
  const nodes: (string | null)[] = [];
  for (const [size, text] of leaves.entries()) {
    const added = appendLeaf(size, peaks, leafHash(text));
    peaks = added.peaks;
    nodes.push(added.node);
  }
  const stored: StoredHash = (sequence, width) => (width === 1 ? leafHash(leaves[sequence - 1]!) : nodes[sequence - 1]!);
  return { root: rootOf(peaks), stored };
}

/** The root to which the path leads, computed by the definition of the tree: the last hash of the path is next to the root. */
function rootWith(leaf: string, index: number, size: number, path: readonly string[]): string {
  if (size === 1) return leaf;
  let split = 1;
  while (split * 2 < size) split *= 2;
  const [rest, sibling = ""] = [path.slice(0, -1), path.at(-1)];
  return index < split
    ? nodeHash(rootWith(leaf, index, split, rest), sibling)
    : nodeHash(sibling, rootWith(leaf, index - split, size - split, rest));
}

type Place = { readonly event: string; readonly leafIndex: number; readonly treeSize: number; readonly path: readonly string[] };

const SMALL = 5_000;

/** The place of an event in a log of other events. If the log is too large to build, the hashes of the path are arbitrary. */
function placeIn(event: string, leafIndex: number, treeSize: number): { readonly root: string; readonly place: Place } {
  if (treeSize <= SMALL) {
    const leaves = Array.from({ length: treeSize }, (_, at) => (at === leafIndex ? event : `other event ${at}`));
    const { root, stored } = treeOf(leaves);
    return { root, place: { event, leafIndex, treeSize, path: inclusionPath(leafIndex, treeSize, stored) } };
  }
  const path = inclusionPath(leafIndex, treeSize, (sequence, width) => leafHash(`${sequence}:${width}`));
  return { root: rootWith(leafHash(event), leafIndex, treeSize, path), place: { event, leafIndex, treeSize, path } };
}

const ids = {
  authorizationId: "aut_01kb5b1wx0e2m0x3c9t5q6r7s1",
  policyDecisionId: "pd_01kb5b1wx0e2m0x3c9t5q6r7s1",
  executionId: "exe_01kb5b2vwre2m0x3c9t5q6r7s3",
  mandateId: "mdt_01kb5awyd0e2m0x3c9t5q6r7s0",
  agent: "sa_01kb5awyd0e2m0x3c9t5q6r7sa",
  chain: "org_01kb5awyd0e2m0x3c9t5q6r7sb",
} as const;

export const TRANSACTION = `0x${"c4".repeat(32)}`;

const common = {
  iss: ISSUER,
  iat: ISSUED_AT,
  sub: ids.authorizationId,
  mandate: { id: ids.mandateId, version: 3 },
  agent: ids.agent,
  payee: { domain: "reports.example", payTo: "0x209693bc6afc0c5328ba36faf03c514ef312287c" },
  resource: { id: "daily-report", url: "https://reports.example/daily" },
  amount: "500000",
  decimals: 6,
  asset: "eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e",
};

const eventTypes = { allow: "payment.authorized", deny: "payment.denied", requireApproval: "payment.approvalRequired" } as const;

/** The claims of a receipt for a decision, without `log`, and the event of the decision. */
export const decision = (outcome: keyof typeof eventTypes, more: Members = {}): readonly [claims: Members, event: Members] => [
  { ...common, jti: ids.policyDecisionId, kind: "authorization", outcome, ...more },
  {
    actorId: ids.agent,
    auditEventId: "aud_01kb5b1wx0e2m0x3c9t5q6r7s2",
    createdAt: "2026-11-23T11:59:58.123Z",
    entityId: ids.authorizationId,
    entityType: "authorization",
    metadata: {
      amount: "0.5",
      asset: "USDC",
      chain: "eip155:84532",
      ...more,
      mandateId: ids.mandateId,
      policyDecisionId: ids.policyDecisionId,
      policyVersion: 3,
    },
    organizationId: ids.chain,
    subjectId: ids.agent,
    type: eventTypes[outcome],
  },
];

/** A decision about a payment that counts in a unit. */
export const counted = (): ReturnType<typeof decision> => [
  { ...decision("allow")[0], unit: { amount: "0.56", rate: "1.12 USD" } },
  decision("allow", { unitAmount: "0.56", unitRate: "1.12 USD" })[1],
];

const executionEvents = {
  pending: "payment.submitted",
  processing: "payment.submitted",
  settled: "payment.settled",
  failed: "payment.failed",
  unknown: "payment.unknown",
} as const;

/** The claims of a receipt for an execution, without `log`, and the event of the execution. */
export function execution(status: keyof typeof executionEvents): readonly [claims: Members, event: Members] {
  const settled = status === "settled";
  const settlement = settled ? { status, transaction: TRANSACTION } : { status };
  return [
    { ...common, jti: ids.executionId, kind: "execution", outcome: "allow", settlement },
    {
      actorId: "service",
      auditEventId: "aud_01kb5b3tt8e2m0x3c9t5q6r7s4",
      createdAt: "2026-11-23T11:59:59.456Z",
      entityId: ids.executionId,
      entityType: "execution",
      metadata: {
        authorizationId: ids.authorizationId,
        mandateId: ids.mandateId,
        ...(settled && { settlementReference: TRANSACTION }),
        ...(status === "failed" && { failureCode: "settlement_failed" }),
      },
      organizationId: ids.chain,
      subjectId: ids.agent,
      type: executionEvents[status],
    },
  ];
}

const approval = { id: "apr_01kb5b1wx0e2m0x3c9t5q6r7s6", basketHash: "ab".repeat(32), assurance: "passkeyApproved" };

/** The claims of a receipt for a person's approval, without `log`, and the event of the approval. */
export const approved = (): readonly [claims: Members, event: Members] => [
  { ...common, jti: approval.id, kind: "approval", outcome: "requireApproval", approval },
  {
    actorId: "usr_01kb5awyd0e2m0x3c9t5q6r7sc",
    auditEventId: "aud_01kb5b3tt8e2m0x3c9t5q6r7s7",
    createdAt: "2026-11-23T11:59:59.123Z",
    entityId: "cki_01kb5b1wx0e2m0x3c9t5q6r7s8",
    entityType: "checkout",
    metadata: {
      amountAtomic: common.amount,
      approvalId: approval.id,
      asset: "USDC",
      assuranceLevel: approval.assurance,
      authorizationId: ids.authorizationId,
      basketHash: approval.basketHash,
      chain: "eip155:84532",
      mandateId: ids.mandateId,
      payTo: common.payee.payTo,
    },
    organizationId: ids.chain,
    subjectId: ids.agent,
    type: "checkout.approved",
  },
];

export type Answer = { receipt: string; proof?: Place & { log: Place; head: string } };

/** Changes to the parts of an answer. Each change is made before the parts that depend on it are made and signed. */
export type Wishes = {
  readonly of?: readonly [claims: Members, event: Members];
  readonly event?: Members;
  readonly claims?: Members;
  readonly claimsLog?: Members;
  readonly place?: readonly [leafIndex: number, treeSize: number];
  readonly logEvent?: (event: Members & { readonly metadata: Members }) => Members;
  readonly logPlace?: readonly [leafIndex: number, treeSize: number];
  readonly head?: Members;
  readonly signer?: SigningKey;
  readonly headSigner?: SigningKey;
};

/** Makes the answer of a service that has this signing key. */
export async function issue(key: SigningKey, wishes: Wishes = {}): Promise<Required<Answer>> {
  const [claims, told] = wishes.of ?? decision("allow");
  const event = canonicalJson({ ...told, ...wishes.event });
  const { root, place } = placeIn(event, ...(wishes.place ?? [41, 57]));
  const log = { chain: ids.chain, leafIndex: place.leafIndex, leafHash: leafHash(event), ...wishes.claimsLog };
  const receipt = await sign(wishes.signer ?? key, "decision-receipt+jwt", { ...claims, log, ...wishes.claims });
  const signed = {
    actorId: "service",
    auditEventId: "aud_01kb5b4s20e2m0x3c9t5q6r7s5",
    createdAt: "2026-11-23T12:01:00.000Z",
    entityId: `chain:${ids.chain}`,
    entityType: "auditChain",
    metadata: { hash: root, sequence: place.treeSize, signedAt: "2026-11-23T12:01:00.000Z" },
    organizationId: ids.chain,
    type: "auditChain.signed",
  };
  const upper = placeIn(canonicalJson(wishes.logEvent?.(signed) ?? signed), ...(wishes.logPlace ?? [8, 12]));
  const head = {
    iss: ISSUER,
    iat: ISSUED_AT + 60,
    log: "checkpoints",
    size: upper.place.treeSize,
    root: upper.root,
    ...wishes.head,
  };
  return {
    receipt,
    proof: { ...place, log: upper.place, head: await sign(wishes.headSigner ?? key, "log-head+jwt", head) },
  };
}
