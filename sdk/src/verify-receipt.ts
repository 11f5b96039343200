// Verifies receipts (docs/receipts/README.md) with WebCrypto alone. It shares no code with the service: copy it, or port it.
export type Step = "receipt" | "leaf" | "event" | "inclusion" | "log" | "head";
/** The step that failed. If `ok`, the last step that was checked: `receipt` for an answer without proof. */
export type Verdict = { readonly ok: boolean; readonly step: Step; readonly detail: string };
type Members = Readonly<Record<string, unknown>>;
type Tree = { readonly event: string; readonly leafIndex: number; readonly treeSize: number; readonly path: readonly string[] };
type Answer = { readonly receipt: string; readonly proof?: Tree & { readonly log: Tree; readonly head: string } };

const HALF_ORDER = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n / 2n;
const ES256 = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" };
const DECIMAL = /^(0|[1-9]\d{0,77})(\.\d{1,18})?$/;
const TYPES: Members = { allow: "payment.authorized", deny: "payment.denied", requireApproval: "payment.approvalRequired" };
/** For each status of an execution, the types that its newest event can have. */
const STATES: Readonly<Record<string, readonly unknown[]>> = {
  pending: ["payment.submitted", "payment.reorganized"],
  processing: ["payment.submitted", "payment.reorganized", "payment.processing"],
  settled: ["payment.settled"],
  failed: ["payment.failed"],
  unknown: ["payment.unknown"],
};

/** A form is a test, an object of forms, or the expected value. Other members are allowed, unless the form is exact. */
function matches(value: unknown, form: unknown, isExact = false): boolean {
  if (typeof form === "function") return (form as (value: unknown) => boolean)(value);
  if (!isObject(form)) return value === form;
  if (!isObject(value) || (isExact && Object.keys(value).length !== Object.keys(form).length)) return false;
  return Object.keys(form).every((name) => matches(value[name], form[name], isExact));
}
const isText = (value: unknown): value is string => typeof value === "string";
const isNumber = (value: unknown): boolean => typeof value === "number";
const isObject = (value: unknown): value is Members => typeof value === "object" && value !== null && !Array.isArray(value);
const like = (pattern: RegExp) => (value: unknown) => isText(value) && pattern.test(value);
const upTo = (limit: number) => (value: unknown) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= limit;
const optional = (form: unknown) => (value: unknown) => value === undefined || matches(value, form);
const isEvent = (value: unknown): boolean => isText(value) && value.isWellFormed();
const isUrl = (value: unknown): boolean => isText(value) && /^https?:\/\//.test(value) && URL.canParse(value);
const isHash = like(/^[0-9a-f]{64}$/);
const isPath = (value: unknown): boolean => Array.isArray(value) && value.every(isHash);

const is32Bytes = like(/^[A-Za-z0-9_-]{43}$/);
const KEY = { kid: isText, kty: "EC", crv: "P-256", use: "sig", alg: "ES256", x: is32Bytes, y: is32Bytes, d: undefined };
type Jwk = { readonly kid: string; readonly x: string; readonly y: string };

const TREE = { event: isEvent, leafIndex: isNumber, treeSize: isNumber, path: isPath };
const PROOF = { ...TREE, log: TREE, head: isText };
const ISSUED = { iss: isUrl, iat: upTo(253402300799) };
const PAYEE = { domain: optional(isText), payTo: optional(isText), sellerId: optional(isText) };
const ASKED = { agent: isText, payee: PAYEE, resource: optional({ id: optional(isText), url: optional(isText) }) };
const TERMS = { amount: like(/^(0|[1-9]\d{0,77})$/), decimals: upTo(255), asset: isText };
const APPROVAL = { id: isText, basketHash: isText, assurance: isText };
const DECIDED = { outcome: like(/^(allow|deny|requireApproval)$/), approval: optional(APPROVAL) };
const MANDATE = { id: isText, version: Number.isSafeInteger };
const LOG = { chain: isText, leafIndex: isNumber, leafHash: isHash };
const CLAIMS = { ...ISSUED, jti: isText, sub: isText, ...ASKED, ...TERMS, ...DECIDED, mandate: MANDATE, log: LOG };
const SETTLEMENT = { status: like(/^(pending|processing|settled|failed|unknown)$/), transaction: optional(isText) };
const KINDS = new Map<unknown, Members>([
  ["authorization", { settlement: undefined }],
  ["approval", { settlement: undefined, approval: APPROVAL }],
  ["execution", { settlement: SETTLEMENT }],
]);

/** Throws if the condition is false. verifyReceipt catches the error and names the step. */
function check(condition: boolean, refusal: string): asserts condition {
  if (!condition) throw new Error(refusal);
}

/**
 * Refuses JSON with two members of the same name, of which JSON.parse keeps one. Each member has a colon, so the number of
 * colons outside of strings must be the number of members.
 */
export function parseJson(text: string): unknown {
  const parsed: unknown = JSON.parse(text);
  const colons = text.replaceAll(/"[^"\\]*(?:\\.[^"\\]*)*"/g, "").split(":").length - 1;
  const values = [parsed];
  for (const value of values) if (typeof value === "object") for (const child of Object.values(value ?? {})) values.push(child);
  const members = values.filter(isObject).reduce((sum, value) => sum + Object.keys(value).length, 0);
  check(colons === members, "A JSON member occurs twice.");
  return parsed;
}

const utf8 = new TextEncoder();
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const hex = (bytes: Iterable<number>): string => Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
const fromHex = (digits: string): number[] => (digits.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16));
const sha256 = async (bytes: number[]) => hex(new Uint8Array(await crypto.subtle.digest("SHA-256", new Uint8Array(bytes))));
const leafHash = (event: string): Promise<string> => sha256([0, ...utf8.encode(event)]);

function fromBase64url(part: string): Uint8Array<ArrayBuffer> {
  const bytes = atob(part.replaceAll("-", "+").replaceAll("_", "/"));
  check(btoa(bytes).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "") === part, "A part is not canonical base64url.");
  return Uint8Array.from(bytes, (char) => char.charCodeAt(0));
}

/** The keys for ES256, without their private part, with which anybody could sign. The id of each must be its thumbprint (RFC 7638). */
async function readKeys(jwks: unknown): Promise<readonly Jwk[]> {
  const published: unknown[] = isObject(jwks) && Array.isArray(jwks.keys) ? jwks.keys : [];
  const keys = published.filter((key) => matches(key, KEY)) as Jwk[];
  for (const { kid, x, y } of keys) {
    const thumbprint = await sha256([...utf8.encode(JSON.stringify({ crv: "P-256", kty: "EC", x, y }))]);
    check(thumbprint === hex(fromBase64url(kid)), "The id of a published key is not its thumbprint.");
  }
  return keys;
}

async function verifyJws(jws: string, typ: string, jwks: unknown): Promise<Members> {
  const [head = "", payload = "", signature = "", ...others] = jws.split(".");
  check(signature !== "" && others.length === 0, "The JWS does not have three parts.");
  const [header, claims] = [head, payload].map((part) => parseJson(strictUtf8.decode(fromBase64url(part))));
  check(matches(header, { alg: "ES256", kid: isText, typ }, true), `The header is not exactly alg ES256, kid, and typ ${typ}.`);
  const bytes = fromBase64url(signature);
  check(bytes.length === 64 && BigInt(`0x${hex(bytes.slice(32))}`) <= HALF_ORDER, "The signature is not 64 bytes with a low s.");
  const jwk = (await readKeys(jwks)).find(({ kid }) => kid === (header as Members).kid);
  check(jwk !== undefined, "The key is not published for ES256.");
  const key = await crypto.subtle.importKey("jwk", { kty: "EC", crv: "P-256", x: jwk.x, y: jwk.y }, ES256, false, ["verify"]);
  check(await crypto.subtle.verify(ES256, key, bytes, utf8.encode(`${head}.${payload}`)), "The signature is wrong.");
  check(isObject(claims), "The payload is not a JSON object.");
  return claims;
}

/**
 * The form that a receipt's event must have. The amount's decimal point is moved in text, because JavaScript numbers are not
 * exact.
 */
function formOfEvent({ kind, sub, jti, agent, outcome, amount, decimals, ...claims }: Members): Members {
  const { id: mandateId, version: policyVersion } = claims.mandate as Members;
  const isChain = (chain: unknown): boolean => isText(chain) && String(claims.asset).startsWith(`${chain}/`);
  if (kind === "authorization") {
    const isAmount = (decimal: unknown): boolean => {
      const [whole = "", fraction = ""] = isText(decimal) && DECIMAL.test(decimal) ? decimal.split(".") : [];
      const digits = whole + fraction.padEnd(Number(decimals), "0");
      return whole !== "" && fraction.length <= Number(decimals) && digits.replace(/^0+(?=\d)/, "") === amount;
    };
    const terms = { amount: isAmount, chain: isChain, denialCode: claims.denialCode };
    const metadata = { mandateId, policyVersion, policyDecisionId: jti, ...terms };
    return { type: TYPES[String(outcome)], entityId: sub, subjectId: agent, metadata };
  }
  if (kind === "approval") {
    const { id: approvalId, basketHash, assurance: assuranceLevel } = claims.approval as Members;
    const { payTo } = claims.payee as Members;
    const isSame = (found: unknown): boolean => found === jti && approvalId === jti;
    const terms = { amountAtomic: amount, basketHash, assuranceLevel, chain: isChain, payTo };
    return {
      type: "checkout.approved",
      entityId: isText,
      subjectId: agent,
      metadata: { approvalId: isSame, authorizationId: sub, mandateId, ...terms },
    };
  }
  const { status, transaction } = claims.settlement as Members;
  const type = (found: unknown): boolean => STATES[String(status)]?.includes(found) === true;
  const settled = status === "settled" ? { settlementReference: transaction } : {};
  const metadata = { mandateId, authorizationId: sub, ...settled };
  return { type, entityId: jti, subjectId: optional(isText), metadata };
}

/**
 * RFC 9162, section 2.1.3.2: the root that the path leads to. It divides instead of shifting, because sizes have up to 53 bits.
 */
async function rootFrom({ event, leafIndex, treeSize, path }: Tree): Promise<string> {
  const areWhole = Number.isSafeInteger(treeSize) && Number.isInteger(leafIndex);
  check(areWhole && leafIndex >= 0 && leafIndex < treeSize, "The index is not below the size, or the size not below 2^53.");
  let [index, last, used, root] = [leafIndex, treeSize - 1, 0, await leafHash(event)];
  for (; last > 0; [index, last] = [Math.floor(index / 2), Math.floor(last / 2)]) {
    if (index === last && index % 2 === 0) continue; // The last node of a level with an odd number of nodes has no sibling.
    const sibling = path[used++] ?? "";
    root = await sha256([1, ...fromHex(index % 2 === 1 ? sibling + root : root + sibling)]);
  }
  check(used === path.length, "The path has a wrong length.");
  return root;
}

export async function verifyReceipt(answer: unknown, jwks: unknown): Promise<Verdict> {
  let step: Step = "receipt";
  try {
    const isComplete = matches(answer, { receipt: isText, proof: PROOF }, true);
    check(isComplete || matches(answer, { receipt: isText }, true), "The answer has another form than a receipt and its proof.");
    const { receipt: jws, proof } = answer as Answer;
    const receipt = await verifyJws(jws, "decision-receipt+jwt", jwks);
    const ofKind = KINDS.get(receipt.kind);
    const denialCode = receipt.outcome === "deny" ? optional(isText) : undefined;
    check(
      ofKind !== undefined && matches(receipt, { ...CLAIMS, ...ofKind, denialCode }),
      "A claim of the receipt is missing, or has another form.",
    );
    if (!proof) return { ok: true, step, detail: "The signature is valid. There is no proof to check." };
    step = "leaf";
    const leaf = { leafIndex: proof.leafIndex, leafHash: await leafHash(proof.event) };
    check(matches(receipt.log, leaf), "The receipt states another leaf.");
    step = "event";
    check(matches(parseJson(proof.event), formOfEvent(receipt)), "The event is not the one that the receipt states.");
    step = "inclusion";
    const metadata = { sequence: proof.treeSize, hash: await rootFrom(proof) };
    step = "log";
    const signed = {
      subjectId: optional(isText),
      type: "auditChain.signed",
      entityId: `chain:${String((receipt.log as Members).chain)}`,
      metadata,
    };
    check(matches(parseJson(proof.log.event), signed), "The event of the log does not sign this root.");
    const root = await rootFrom(proof.log);
    step = "head";
    const head = { iss: receipt.iss, iat: ISSUED.iat, log: "checkpoints", size: proof.log.treeSize, root };
    check(matches(await verifyJws(proof.head, "log-head+jwt", jwks), head), "The head does not sign this log.");
    return { ok: true, step, detail: "The receipt and its proof are valid." };
  } catch (error) {
    return { ok: false, step, detail: error instanceof Error ? error.message : String(error) };
  }
}
