import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { chain, claimsAndEvent, headerOf, issue, jwks, kid, signText, type Changes } from "#test/receipt-issuer.ts";
import { mutate, mutation } from "#test/receipt-mutations.ts";
import * as packaged from "../sdk/src/index.ts";
import { parseJson, verifyReceipt } from "../sdk/src/verify-receipt.ts";

const valid = { ok: true, step: "head", detail: "The receipt and its proof are valid." };
const refused = (step: string) => ({ ok: false, step, detail: expect.stringMatching(/./) });

describe("a valid answer", () => {
  const settled = (status: string, type: string): Changes => ({
    kind: "execution",
    event: (event) => Object.assign(event, { type }),
    receipt: (claims) => (claims["settlement"] = { status }),
  });
  it.each<[string, Changes]>([
    ["an allowed payment", {}],
    ["a denied payment", { event: (e) => (e["type"] = "payment.denied"), receipt: (r) => (r["outcome"] = "deny") }],
    [
      "a payment that needs approval",
      { event: (e) => (e["type"] = "payment.approvalRequired"), receipt: (r) => (r["outcome"] = "requireApproval") },
    ],
    ["a whole amount", { event: (e) => (e.metadata["amount"] = "12"), receipt: (r) => (r["amount"] = "12000000") }],
    ["the smallest amount", { event: (e) => (e.metadata["amount"] = "0.000001"), receipt: (r) => (r["amount"] = "1") }],
    ["an approval", { kind: "approval" }],
    ["a settled execution", { kind: "execution" }],
    ["a pending execution", settled("pending", "payment.submitted")],
  ])("passes: %s", async (_, changes) => {
    expect(await verifyReceipt(await issue(changes), jwks)).toEqual(valid);
  });

  it("passes without a proof, by the signature alone", async () => {
    const { receipt } = await issue();
    const detail = "The signature is valid. There is no proof to check.";
    expect(await verifyReceipt({ receipt }, jwks)).toEqual({ ok: true, step: "receipt", detail });
  });

  it("passes in trees of all sizes at all indexes", async () => {
    for (let size = 1; size <= 40; size += 1) {
      for (let index = 0; index < size; index += 1) {
        const [tree, log] = [
          { size, index },
          { size: 41 - size, index: index % (41 - size) },
        ];
        expect(await verifyReceipt(await issue({ tree, log }), jwks), `${index} of ${size}`).toEqual(valid);
      }
    }
  });
});

describe("a step that fails", () => {
  it.each<[string, string, Changes]>([
    ["receipt", "the payload is a list", { receipt: (r) => (r["toJSON"] = () => [1]) }],
    ...["iss", "iat", "jti", "sub", "kind", "outcome", "mandate", "agent", "payee", "amount", "decimals", "asset", "log"].map(
      (claim): [string, string, Changes] => ["receipt", `no ${claim}`, { receipt: (r) => delete r[claim] }],
    ),
    ["receipt", "an amount in whole units", { receipt: (r) => (r["amount"] = "0.5") }],
    [
      "receipt",
      "an execution without settlement",
      { kind: "execution", receipt: (r) => Object.assign(r, { settlement: undefined }) },
    ],
    ["receipt", "a transaction that is not text", { kind: "execution", receipt: (r) => (r.settlement["transaction"] = [1]) }],
    ...["event", "leafIndex", "treeSize", "path", "log", "head"].map((name): [string, string, Changes] => [
      "receipt",
      `a proof without ${name}`,
      { proof: (p) => delete p[name] },
    ]),
    ["receipt", "an unknown member of the proof", { proof: (p) => (p["root"] = "") }],
    ["receipt", "an unknown member of the log", { proof: (p) => (p.log["root"] = "") }],
    ["leaf", "another leaf hash", { receipt: (r) => (r.log["leafHash"] = "0".repeat(64)) }],
    ["leaf", "another leaf index", { receipt: (r) => (r.log["leafIndex"] = 40) }],
    ["leaf", "another event", { proof: (p) => (p.event += " ") }],
    [
      "receipt",
      "a lone surrogate",
      { event: (e) => (e["entityId"] = "\ufffd"), proof: (p) => (p.event = p.event.replace("\ufffd", "\ud800")) },
    ],
    ["event", "a list", { eventText: () => "[]" }],
    ["event", "no JSON", { eventText: () => "{" }],
    ["event", "a repeated member", { eventText: (text) => text.replace("{", '{"type":"payment.denied",') }],
    ["event", "a deep event", { eventText: () => "[".repeat(200_000) + "]".repeat(200_000) }],
    ["event", "another authorization", { event: (e) => (e["entityId"] = "auth_2") }],
    ["event", "another type", { event: (e) => (e["type"] = "payment.denied") }],
    ["receipt", "an unknown outcome", { event: (e) => (e["type"] = "payment.x"), receipt: (r) => (r["outcome"] = "x") }],
    ["receipt", "the outcome constructor", { receipt: (r) => (r["outcome"] = "constructor") }],
    ["receipt", "an unknown kind", { receipt: (r) => (r["kind"] = "refund") }],
    ["event", "another mandate", { event: (e) => (e.metadata["mandateId"] = "man_2") }],
    [
      "receipt",
      "no mandate on either side",
      { event: (e) => delete e.metadata["mandateId"], receipt: (r) => delete r.mandate["id"] },
    ],
    ["event", "another version", { event: (e) => (e.metadata["policyVersion"] = 2) }],
    ["event", "another decision", { event: (e) => (e.metadata["policyDecisionId"] = "dec_2") }],
    ["event", "another agent", { event: (e) => (e["subjectId"] = "sa_2") }],
    ["event", "another amount", { event: (e) => (e.metadata["amount"] = "0.51") }],
    ["event", "a smaller part than the token has", { event: (e) => (e.metadata["amount"] = "0.5000001") }],
    ["event", "an amount that is a number", { event: (e) => (e.metadata["amount"] = 0.5) }],
    ["receipt", "huge decimals", { receipt: (r) => (r["decimals"] = 1e15) }],
    ["event", "no metadata", { event: (e) => Object.assign(e, { metadata: undefined }) }],
    [
      "receipt",
      "an approval without the person's approval",
      { kind: "approval", receipt: (r) => Object.assign(r, { approval: undefined }) },
    ],
    ["receipt", "an approval with a settlement", { kind: "approval", receipt: (r) => (r["settlement"] = { status: "settled" }) }],
    ["event", "a request in place of an approval", { kind: "approval", event: (e) => (e["type"] = "checkout.previewed") }],
    ["event", "an approval with two ids", { kind: "approval", receipt: (r) => (r.approval["id"] = "apr_2") }],
    ...["approvalId", "authorizationId", "mandateId", "basketHash", "assuranceLevel", "amountAtomic", "chain", "payTo"].map(
      (name): [string, string, Changes] => [
        "event",
        `another ${name} of an approval`,
        { kind: "approval", event: (e) => (e.metadata[name] = "other") },
      ],
    ),
    ["event", "another agent of an approval", { kind: "approval", event: (e) => (e["subjectId"] = "sa_2") }],
    ["event", "another execution", { kind: "execution", event: (e) => (e["entityId"] = "exe_2") }],
    [
      "event",
      "another authorization of an execution",
      { kind: "execution", event: (e) => (e.metadata["authorizationId"] = "auth_2") },
    ],
    ["event", "another mandate of an execution", { kind: "execution", event: (e) => (e.metadata["mandateId"] = "man_2") }],
    ["event", "another transaction", { kind: "execution", event: (e) => (e.metadata["settlementReference"] = "0xabd") }],
    ["event", "settled without the event", { kind: "execution", event: (e) => (e["type"] = "payment.executed") }],
    ["event", "the event without settled", { kind: "execution", receipt: (r) => (r.settlement["status"] = "failed") }],
    ["inclusion", "an index that is the size", { proof: (p) => (p["treeSize"] = 41) }],
    ["receipt", "a size that is no number", { proof: (p) => (p["treeSize"] = "57") }],
    ["inclusion", "a size above 2^53 - 1", { proof: (p) => (p["treeSize"] = 2 ** 53) }],
    ["inclusion", "a path that is too short", { proof: (p) => p.path.pop() }],
    ["inclusion", "a path that is too long", { proof: (p) => p.path.push("0".repeat(64)) }],
    ["receipt", "a hash in capitals", { proof: (p) => (p.path[0] = p.path[0]!.replace(/.$/, "A")) }],
    ["log", "swapped hashes", { proof: (p) => p.path.reverse() }],
    ["log", "another size of the same path", { tree: { size: 4, index: 0 }, proof: (p) => (p["treeSize"] = 3) }],
    ["log", "another type", { checkpoint: (e) => (e["type"] = "auditChain.verified") }],
    ["log", "another organization", { checkpoint: (e) => (e["entityId"] = "chain:org_2") }],
    ["log", "another sequence", { checkpoint: (e) => (e.metadata["sequence"] = 56) }],
    ["log", "another hash", { checkpoint: (e) => (e.metadata["hash"] = "0".repeat(64)) }],
    ["log", "a path that is too short", { proof: (p) => p.log.path.pop() }],
    ["log", "an index that is the size", { proof: (p) => (p.log["leafIndex"] = 12) }],
    ["head", "swapped hashes of the log", { proof: (p) => p.log.path.reverse() }],
    ["head", "another issuer", { head: (h) => (h["iss"] = "https://pay.example.org") }],
    ["head", "another log", { head: (h) => (h["log"] = chain) }],
    ["head", "another size", { head: (h) => (h["size"] = 11) }],
    ["head", "another root", { head: (h) => (h["root"] = "0".repeat(64)) }],
  ])("is %s: %s", async (step, _, changes) => {
    expect(await verifyReceipt(await issue(changes), jwks)).toEqual(refused(step));
  });

  it("is the step receipt or head for a signed token of the other type", async () => {
    const { receipt, proof } = await issue();
    expect(await verifyReceipt({ receipt: proof.head, proof }, jwks)).toEqual(refused("receipt"));
    expect(await verifyReceipt({ receipt, proof: { ...proof, head: receipt } }, jwks)).toEqual(refused("head"));
  });
});

describe("a signature in another form", () => {
  const header = JSON.stringify(headerOf("decision-receipt+jwt"));
  const payload = JSON.stringify({
    ...claimsAndEvent("authorization").claims,
    log: { chain, leafIndex: 0, leafHash: "0".repeat(64) },
  });
  it.each<[string, () => Promise<string> | string]>([
    ["high s", () => signText(header, payload, "high")],
    ["padding", async () => `${await signText(header, payload)}==`],
    [
      "spare bits",
      async () => (await signText(header, payload)).replace(/.$/, (last) => String.fromCharCode(last.charCodeAt(0) + 1)),
    ],
    ["another alphabet", async () => `${(await signText(header, payload)).slice(0, -2)}+/`],
    ["a line break", async () => `${await signText(header, payload)}\n`],
    ["two parts", async () => (await signText(header, payload)).replace(/\.[^.]*$/, "")],
    ["four parts", async () => `${await signText(header, payload)}.`],
    ["no signature", async () => (await signText(header, payload)).replace(/[^.]*$/, "")],
    ["a long signature", async () => `${await signText(header, payload)}AA`],
    ["another member in the header", () => signText(JSON.stringify({ ...headerOf("decision-receipt+jwt"), crit: [] }), payload)],
    ["no kid", () => signText('{"alg":"ES256","typ":"decision-receipt+jwt"}', payload)],
    ["another alg", () => signText(header.replace("ES256", "none"), payload)],
    ["another typ", () => signText(header.replace("decision-receipt+jwt", "JWT"), payload)],
    ["an unpublished kid", () => signText(header.replace(kid, "unknown"), payload)],
    ["a kid of another key", () => signText(header.replace(kid, "another"), payload)],
    ["a repeated header", () => signText(header.replace("{", '{"alg":"ES256",'), payload)],
    ["a repeated claim", () => signText(header, payload.replace("{", '{"\\u0069ss":"b",'))],
    ["a repeated claim in an object", () => signText(header, payload.replace("{", '{"a":[{"b:":1,"b:":1}],'))],
    ["a list", () => signText(header, "[]")],
    ["a text", () => signText(header, '"text"')],
    ["null", () => signText(header, "null")],
    ["no JSON", () => signText(header, "{")],
    ["a byte order mark", () => signText(header, `\ufeff${payload}`)],
    ["bytes that are not UTF-8", () => signText(header, Buffer.from(payload.replace("{", '{"\xff":1,'), "latin1"))],
  ])("is refused: %s", async (_, make) => {
    expect(await verifyReceipt({ receipt: await signText(header, payload) }, jwks)).toMatchObject({ ok: true });
    expect(await verifyReceipt({ receipt: await make() }, jwks)).toEqual(refused("receipt"));
  });

  it("is refused if the published key is for something else", async () => {
    const answer = await issue();
    for (const other of [{ use: "enc" }, { alg: "ES384" }, { crv: "P-384" }, { kty: "RSA" }, { x: kid }, { kid: "unknown" }])
      expect(await verifyReceipt(answer, { keys: [{ ...jwks.keys[1], ...other }] })).toEqual(refused("receipt"));
  });

  it("is refused if the id of a published key is not the key's thumbprint, or if its private part is published", async () => {
    const key = jwks.keys[1];
    const receipt = await signText(header.replace(kid, "chosen"), payload);
    expect(await verifyReceipt({ receipt }, { keys: [{ ...key, kid: "chosen" }] })).toEqual(refused("receipt"));
    const good = { receipt: await signText(header, payload) };
    expect(await verifyReceipt(good, { keys: [key, { ...key, kid: "chosen" }] })).toEqual(refused("receipt"));
    expect(await verifyReceipt(good, { keys: [{ ...key, d: kid }] })).toEqual(refused("receipt"));
  });
});

describe("malicious input", () => {
  it("is refused after any single change", async () => {
    const answers = [await issue(), await issue({ kind: "execution", tree: { size: 7, index: 6 }, log: { size: 1, index: 0 } })];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...answers), mutation, async (answer, how) => {
        const changed = mutate(answer, how);
        fc.pre(changed !== undefined);
        const { ok, step } = await verifyReceipt(changed, jwks);
        const isWithoutProof = JSON.stringify(changed) === JSON.stringify({ receipt: answer["receipt"] });
        expect({ ok, step }).toEqual(isWithoutProof ? { ok: true, step: "receipt" } : { ok: false, step });
      }),
      { numRuns: 3000 },
    );
  });

  it("never causes an exception", async () => {
    const { receipt, proof } = await issue();
    const json = fc.jsonValue();
    const part = fc.record({ receipt: fc.oneof(fc.constant(receipt), json), proof: fc.oneof(fc.constant(proof), json) });
    await fc.assert(
      fc.asyncProperty(fc.oneof(json, part), fc.oneof(fc.constant(jwks), json), async (answer, keySet) => {
        expect(await verifyReceipt(answer, keySet)).toMatchObject({ ok: expect.any(Boolean), step: expect.any(String) });
      }),
    );
  });

  it("that repeats a member in a file is refused", () => {
    expect(parseJson('{"a":":","b":[{"c\\":":1},{"c\\":":{}}],"__proto__":null}')).toMatchObject({ a: ":" });
    for (const text of ['{"a":1,"a":1}', '[{"b":{"c":1,"\\u0063":2}}]', '{"__proto__":1,"__proto__":2}'])
      expect(() => parseJson(text)).toThrow("A JSON member occurs twice.");
    for (const text of ["", '{"a":1,"a":1}']) expect(() => packaged.parseJson(text)).toThrow(packaged.CountersignError);
  });
});

describe("the command", () => {
  it("prints one sentence and exits with 0 or 1", async () => {
    const folder = await mkdtemp(join(tmpdir(), "receipt-"));
    const run = async (answer: string): Promise<unknown> => {
      await writeFile(join(folder, "receipt.json"), answer);
      const files = [join(folder, "receipt.json"), join(folder, "jwks.json")];
      return promisify(execFile)(process.execPath, ["examples/verify-receipt.ts", ...files]);
    };
    try {
      await writeFile(join(folder, "jwks.json"), JSON.stringify(jwks));
      expect(await run(JSON.stringify(await issue()))).toMatchObject({ stdout: "The receipt and its proof are valid.\n" });
      const repeated = { code: 1, stdout: "The step receipt fails: A JSON member occurs twice.\n", stderr: "" };
      await expect(run('{"receipt":"","receipt":""}')).rejects.toMatchObject(repeated);
      const failed = run(JSON.stringify(await issue({ head: (head) => (head["size"] = 1) })));
      await expect(failed).rejects.toMatchObject({ code: 1, stdout: expect.stringMatching(/^The step head fails: .*\.\n$/) });
    } finally {
      await rm(folder, { recursive: true });
    }
  });
});
