// `node scripts/receipt-vectors.ts` writes docs/receipts/vectors.json. Only the ECDSA signatures are different each time.
import { writeFile } from "node:fs/promises";
import { base64url } from "jose";
import type { Step } from "#lib/receipts/refusal.ts";
import { approved, counted, decision, execution, issue, ISSUED_AT, ISSUER, keyOf, sign, withS } from "#test/receipts.ts";
import type { Answer, Wishes } from "#test/receipts.ts";

const [current, earlier, unknown] = await Promise.all(
  ["current", "earlier", "unknown"].map((name) => keyOf(`receipt vectors: ${name}`)),
);
if (!current || !earlier || !unknown) throw new Error("There are no keys.");

const make = (wishes: Wishes = {}): Promise<Required<Answer>> => issue(current, wishes);

type Change = (answer: Required<Answer>) => unknown;

/** A copy of a valid answer, changed by `edit`. */
const change = async (edit: Change, wishes: Wishes = {}): Promise<unknown> => {
  const answer = structuredClone(await make(wishes));
  return edit(answer) ?? answer;
};
const inProof = (members: Readonly<Record<string, unknown>>, wishes?: Wishes): Promise<unknown> =>
  change((answer) => ({ ...answer, proof: { ...answer.proof, ...members } }), wishes);
const inLog = (members: Readonly<Record<string, unknown>>): Promise<unknown> =>
  change((answer) => ({ ...answer, proof: { ...answer.proof, log: { ...answer.proof.log, ...members } } }));

/** An answer without a proof. `edit` gets the three parts of the receipt's JWS and returns its new text. */
const inReceipt = (edit: (header: string, payload: string, signature: string) => string): Promise<unknown> =>
  change(({ receipt }) => ({ receipt: edit(...(receipt.split(".") as [string, string, string])) }));

const typ = "decision-receipt+jwt";
const claims = { ...decision("allow")[0], log: { chain: "c", leafIndex: 0, leafHash: "0".repeat(64) } };
const receiptOf = async (payload: Readonly<Record<string, unknown>> | string, header = {}): Promise<unknown> => ({
  receipt: await sign(current, typ, payload, header),
});

/** Sets one of the four bits that base64url ignores in the last of the 86 characters for 64 bytes, so the bytes stay the same. */
const withSpareBits = (part: string): string => {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  return part.slice(0, -1) + alphabet[alphabet.indexOf(part.at(-1) ?? "") + 1];
};

const without = (name: string): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(claims).filter(([member]) => member !== name));
const swapped = ([first = "", second = "", ...rest]: readonly string[]): string[] => [second, first, ...rest];

const valid: readonly (readonly [name: string, answer: unknown])[] = [
  ["allow", await make()],
  ["deny", await make({ of: decision("deny", { denialCode: "per_payment_limit_exceeded" }) })],
  ["require approval", await make({ of: decision("requireApproval") })],
  [
    "allow, after a person approved it",
    await make({
      claims: { approval: { id: "apr_01kb5b1wx0e2m0x3c9t5q6r7s6", basketHash: "ab".repeat(32), assurance: "passkeyApproved" } },
    }),
  ],
  ["approval", await make({ of: approved() })],
  ["execution, settled", await make({ of: execution("settled") })],
  ["execution, failed", await make({ of: execution("failed") })],
  ["execution, unknown", await make({ of: execution("unknown") })],
  ["execution, pending", await make({ of: execution("pending") })],
  ["execution, processing", await make({ of: execution("processing") })],
  ["execution, taken over by its seller", await make({ of: execution("processing"), event: { type: "payment.processing" } })],
  ["execution, pending again", await make({ of: execution("pending"), event: { type: "payment.reorganized" } })],
  ["execution, processing again", await make({ of: execution("processing"), event: { type: "payment.reorganized" } })],
  ["without proof", await change(({ receipt }) => ({ receipt }))],
  ["execution without proof", await change(({ receipt }) => ({ receipt }), { of: execution("settled") })],
  ["both logs with one event", await make({ place: [0, 1], logPlace: [0, 1] })],
  ["the last event of a log whose size is no power of two", await make({ place: [4, 5], logPlace: [6, 7] })],
  ["the first event of a log whose size is a power of two", await make({ place: [0, 64], logPlace: [3, 4] })],
  ["a log of 4,000 events", await make({ place: [2_741, 4_000], logPlace: [998, 1_000] })],
  [
    "a log of 2^53 - 1 events",
    await make({ place: [2 ** 52 + 12_345, Number.MAX_SAFE_INTEGER], logPlace: [2 ** 33, 2 ** 33 + 1] }),
  ],
  ["signed with a key that was replaced before the head was signed", await make({ signer: earlier })],
  ["a payment that counts in a unit", await make({ of: counted() })],
  ["an event with other characters than ASCII", await make({ event: { note: "caf\u00e9 \u{1f9fe} \u2028" } })],
];

const receipt: readonly (readonly [name: string, answer: unknown])[] = [
  ["a high s", await change(({ receipt }) => ({ receipt: withS(receipt, "high") }))],
  ["padding after the signature", await inReceipt((...parts) => `${parts.join(".")}==`)],
  [
    "spare bits in the signature",
    await inReceipt((header, payload, signature) => `${header}.${payload}.${withSpareBits(signature)}`),
  ],
  [
    "base64 in place of base64url",
    await inReceipt((header, payload, signature) => `${header}.${payload}.+${signature.slice(1)}`),
  ],
  ["white space after the receipt", await inReceipt((...parts) => `${parts.join(".")}\n`)],
  ["two parts", await inReceipt((header, payload) => `${header}.${payload}`)],
  ["four parts", await inReceipt((...parts) => `${parts.join(".")}.`)],
  ["no signature", await inReceipt((header, payload) => `${header}.${payload}.`)],
  ["a signature of zeros", await inReceipt((header, payload) => `${header}.${payload}.${"A".repeat(86)}`)],
  [
    "a signature in DER",
    await inReceipt((header, payload) => `${header}.${payload}.${base64url.encode(new Uint8Array(70).fill(48))}`),
  ],
  [
    "a denial whose claims were changed to allow",
    await change(
      ({ receipt: denied }) => {
        const [header, payload = "", signature] = denied.split(".");
        const text = new TextDecoder().decode(base64url.decode(payload)).replace('"deny"', '"allow"');
        return { receipt: [header, base64url.encode(text), signature].join(".") };
      },
      { of: decision("deny") },
    ),
  ],
  [
    "alg none",
    await inReceipt(
      (_, payload) => `${base64url.encode(`{"alg":"none","kid":"${current.public.kid}","typ":"${typ}"}`)}.${payload}.`,
    ),
  ],
  ["an extra member in the header", await receiptOf(claims, { cty: "json" })],
  ["another typ", { receipt: await sign(current, "JWT", claims) }],
  ["a signed head in place of the receipt", await change((answer) => ({ ...answer, receipt: answer.proof.head }))],
  ["a key that is not published", await make({ signer: unknown })],
  ["the id of another key", await receiptOf(claims, { kid: earlier.public.kid })],
  ["a payload that is no object", await receiptOf('["receipt"]')],
  ["a payload that is no JSON", await receiptOf("receipt")],
  ["a payload with a member twice", await receiptOf(JSON.stringify(claims).replace('"outcome":', '"outcome":"deny","outcome":'))],
  [
    "a payload with a member twice, once with an escape",
    await receiptOf(JSON.stringify(claims).replace('"outcome":', String.raw`"\u006futcome":"deny","outcome":`)),
  ],
  ["a payload with a byte order mark", await receiptOf(`\ufeff${JSON.stringify(claims)}`)],
  ["no amount", await receiptOf(without("amount"))],
  ["an amount as a number", await receiptOf({ ...claims, amount: 500_000 })],
  ["an amount in whole units", await receiptOf({ ...claims, amount: "0.5" })],
  ["an unknown outcome", await receiptOf({ ...claims, outcome: "maybe" })],
  ["an extra member in the answer", await change((answer) => ({ ...answer, verified: true }))],
  ["an extra member in the proof", await inProof({ verified: true })],
  ["an extra member in the proof's log", await inLog({ verified: true })],
  ["a proof without a head", await change(({ proof }) => void Reflect.deleteProperty(proof, "head"))],
  [
    "an upper-case hash in the path",
    await change(({ proof }) => void Object.assign(proof, { path: proof.path.map((hash) => hash.toUpperCase()) })),
  ],
  ["no receipt", {}],
];

const other = await make({ of: decision("allow", { intentId: "another" }) });
const leaf: readonly (readonly [name: string, answer: unknown])[] = [
  ["the event of another decision", await inProof({ event: other.proof.event })],
  ["white space in the event", await change(({ proof }) => void Object.assign(proof, { event: `${proof.event} ` }))],
  [
    "another amount in the event",
    await change(({ proof }) => void Object.assign(proof, { event: proof.event.replace('"0.5"', '"0.4"') })),
  ],
  ["a wrong index", await inProof({ leafIndex: 40 })],
  ["another leaf hash, signed", await make({ claimsLog: { leafHash: "1".repeat(64) } })],
];

const event: readonly (readonly [name: string, answer: unknown])[] = [
  ["a denial stated as allow, signed", await make({ of: [decision("allow")[0], decision("deny")[1]] })],
  ["a request for approval stated as allow, signed", await make({ of: [decision("allow")[0], decision("requireApproval")[1]] })],
  ["another amount, signed", await make({ claims: { amount: "500001" } })],
  ["a wrong amount scale, signed", await make({ claims: { decimals: 18 } })],
  ["more fraction digits than the token has", await make({ claims: { amount: "5", decimals: 0 } })],
  ["another payment, signed", await make({ claims: { sub: "aut_01kb5b1wx0e2m0x3c9t5q6r7zz" } })],
  ["another decision, signed", await make({ claims: { jti: "pd_01kb5b1wx0e2m0x3c9t5q6r7zz" } })],
  ["another agent, signed", await make({ claims: { agent: "sa_01kb5awyd0e2m0x3c9t5q6r7zz" } })],
  ["another mandate, signed", await make({ claims: { mandate: { id: "mdt_01kb5awyd0e2m0x3c9t5q6r7zz", version: 3 } } })],
  [
    "another version of the mandate, signed",
    await make({ claims: { mandate: { ...(claims as { mandate?: object }).mandate, version: 2 } } }),
  ],
  [
    "another reason of a denial, signed",
    await make({
      of: decision("deny", { denialCode: "per_payment_limit_exceeded" }),
      claims: { denialCode: "daily_limit_exceeded" },
    }),
  ],
  [
    "a denial without its reason, signed",
    await make({ of: [decision("deny")[0], decision("deny", { denialCode: "per_payment_limit_exceeded" })[1]] }),
  ],
  [
    "a denial with a reason that the event does not have, signed",
    await make({ of: decision("deny"), claims: { denialCode: "per_payment_limit_exceeded" } }),
  ],
  [
    "a token on another chain, signed",
    await make({ claims: { asset: "eip155:8453/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e" } }),
  ],
  [
    "a token on a chain whose name begins with the same digits, signed",
    await make({ claims: { asset: "eip155:845321/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e" } }),
  ],
  ["an unknown execution stated as failed, signed", await make({ of: [execution("failed")[0], execution("unknown")[1]] })],
  ["a submitted execution stated as failed, signed", await make({ of: [execution("failed")[0], execution("pending")[1]] })],
  ["a failed execution stated as unknown, signed", await make({ of: [execution("unknown")[0], execution("failed")[1]] })],
  ["a failed execution stated as pending, signed", await make({ of: [execution("pending")[0], execution("failed")[1]] })],
  [
    "an unknown execution stated as processing, signed",
    await make({ of: [execution("processing")[0], execution("unknown")[1]] }),
  ],
  [
    "an execution that its seller settles stated as pending, signed",
    await make({ of: execution("pending"), event: { type: "payment.processing" } }),
  ],
  [
    "a request to check a pending execution, signed",
    await make({ of: execution("pending"), event: { type: "payment.recheckRequested" } }),
  ],
  ["a failed execution stated as settled, signed", await make({ of: [execution("settled")[0], execution("failed")[1]] })],
  ["a settled execution stated as failed, signed", await make({ of: [execution("failed")[0], execution("settled")[1]] })],
  [
    "another transaction, signed",
    await make({ of: execution("settled"), claims: { settlement: { status: "settled", transaction: `0x${"d5".repeat(32)}` } } }),
  ],
  [
    "no transaction of a settled execution, signed",
    await make({ of: execution("settled"), claims: { settlement: { status: "settled" } } }),
  ],
  [
    "an execution of another payment, signed",
    await make({ of: execution("settled"), claims: { sub: "aut_01kb5b1wx0e2m0x3c9t5q6r7zz" } }),
  ],
  ["the event of an execution for a decision", await make({ of: [decision("allow")[0], execution("settled")[1]] })],
];

const inclusion: readonly (readonly [name: string, answer: unknown])[] = [
  ["a path that is too short", await change(({ proof }) => void Object.assign(proof, { path: proof.path.slice(0, -1) }))],
  ["a path that is too long", await change(({ proof }) => void Object.assign(proof, { path: [...proof.path, "2".repeat(64)] }))],
  ["an index that is not below the size", await inProof({ treeSize: 41 })],
  ["a size of 2^53", await inProof({ treeSize: 2 ** 53 })],
  ["a size that is no whole number", await inProof({ treeSize: 57.5 })],
  [
    "a negative index",
    await change(({ proof }) => void Object.assign(proof, { leafIndex: -1 }), { claimsLog: { leafIndex: -1 } }),
  ],
];

const log: readonly (readonly [name: string, answer: unknown])[] = [
  ["a swapped path", await change(({ proof }) => void Object.assign(proof, { path: swapped(proof.path) }))],
  ["a changed path", await change(({ proof }) => void Object.assign(proof, { path: ["3".repeat(64), ...proof.path.slice(1)] }))],
  [
    "a wrong index in the receipt too, signed",
    await change(({ proof }) => void Object.assign(proof, { leafIndex: 40 }), { claimsLog: { leafIndex: 40 } }),
  ],
  ["another size with a path of the same length", await inProof({ treeSize: 58 })],
  ["another chain, signed", await make({ claimsLog: { chain: "org_01kb5awyd0e2m0x3c9t5q6r7zz" } })],
  ["the signed head of another chain", await make({ logEvent: (told) => ({ ...told, entityId: "chain:platform" }) })],
  ["an event of the log that signs nothing", await make({ logEvent: (told) => ({ ...told, type: "auditChain.named" }) })],
  [
    "another signed root",
    await make({ logEvent: (told) => ({ ...told, metadata: { ...told.metadata, hash: "4".repeat(64) } }) }),
  ],
  ["another signed size", await make({ logEvent: (told) => ({ ...told, metadata: { ...told.metadata, sequence: 56 } }) })],
  ["an index of the second log that is not below its size", await inLog({ leafIndex: 12 })],
  [
    "a path of the second log that is too short",
    await change(({ proof }) => void Object.assign(proof.log, { path: proof.log.path.slice(1) })),
  ],
];

const forged = { iss: ISSUER, iat: ISSUED_AT, log: "checkpoints", size: 12, root: "5".repeat(64) };
const head: readonly (readonly [name: string, answer: unknown])[] = [
  ["a forged head", await inProof({ head: await sign(unknown, "log-head+jwt", forged) })],
  [
    "a forged head with the id of a published key",
    await inProof({ head: await sign(unknown, "log-head+jwt", forged, { kid: current.public.kid as string }) }),
  ],
  ["a head with a high s", await change(({ proof }) => void Object.assign(proof, { head: withS(proof.head, "high") }))],
  ["a head with padding", await change(({ proof }) => void Object.assign(proof, { head: `${proof.head}==` }))],
  [
    "the receipt in place of the head",
    await change((answer) => ({ ...answer, proof: { ...answer.proof, head: answer.receipt } })),
  ],
  ["a head of another service", await make({ head: { iss: "https://pay.example.org" } })],
  ["a head of another log", await make({ head: { log: "platform" } })],
  ["a head of another size", await make({ head: { size: 13 } })],
  ["a head of another root", await make({ head: { root: "6".repeat(64) } })],
  ["a head without a root", await make({ head: { root: undefined } })],
  [
    "a changed path of the second log",
    await change(({ proof }) => void Object.assign(proof.log, { path: swapped(proof.log.path) })),
  ],
  [
    "another event in the second log",
    await inLog({ event: (await make({ logEvent: (told) => ({ ...told, actorId: "somebody" }) })).proof.log.event }),
  ],
  ["a wrong index in the second log", await inLog({ leafIndex: 9 })],
];

const invalid = Object.entries({ receipt, leaf, event, inclusion, log, head } satisfies Record<Step, unknown>).flatMap(
  ([step, cases]) => cases.map(([name, answer]) => ({ name, step, answer })),
);
const vectors = {
  keys: { keys: [current.public, earlier.public] },
  valid: valid.map(([name, answer]) => ({ name, answer })),
  invalid,
};
await writeFile(new URL("../docs/receipts/vectors.json", import.meta.url), `${JSON.stringify(vectors, null, 2)}\n`);
