import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseStrictJson } from "#lib/receipts/strict-json.ts";
import { verifyReceipt, verifyReceiptText } from "#lib/receipts/verify-receipt.ts";
import { decision, execution, issue, keyOf, sign, TRANSACTION, type Wishes } from "#test/receipts.ts";

const [key, earlier] = await Promise.all([keyOf("one"), keyOf("two")]);
const keys = { keys: [key.public, earlier.public] };

const proved = async (wishes: Wishes, withProof = true): Promise<string> => {
  const { receipt, proof } = await issue(key, wishes);
  const verdict = await verifyReceipt(withProof ? { receipt, proof } : { receipt }, keys);
  return verdict.ok ? verdict.proved : `${verdict.step}: ${verdict.detail}`;
};

const token = "eip155:84532/erc20:0x036cbd53842c5426634e7929541ec2318f3dcf7e";
const payee = "reports.example (0x209693bc6afc0c5328ba36faf03c514ef312287c)";

describe("the sentence that says what a receipt proves", () => {
  test("says what was decided, about which payment, and that the log contains the decision", async () => {
    expect(await proved({})).toBe(
      `https://pay.example.com signed this receipt on 2026-11-23 at 12:00:00 UTC. It states that on 2026-11-23 at 11:59:58 UTC it allowed a payment of 0.5 USDC (${token}) to ${payee}, and its signed log contains the decision.`,
    );
  });

  test("names the reason of a denial", async () => {
    expect(await proved({ of: decision("deny", { denialCode: "seller_denied" }) })).toContain("denied a payment of 0.5 USDC");
    expect(await proved({ of: decision("deny", { denialCode: "seller_denied" }) })).toContain("(seller_denied)");
  });

  test("says that a person must approve", async () => {
    expect(await proved({ of: decision("requireApproval") })).toContain("it asked a person to approve a payment of 0.5 USDC");
  });

  test("names the transaction of a settled execution, and the token by its address", async () => {
    expect(await proved({ of: execution("settled") })).toContain(
      ` UTC a payment of 0.5 of the token ${token} to ${payee} was settled in the transaction ${TRANSACTION} on ${token.split("/")[0]},`,
    );
    expect(await proved({ of: execution("failed") })).toContain(`to ${payee} failed, and`);
  });

  test("says that the log was not checked if there is no proof", async () => {
    expect(await proved({}, false)).toMatch(
      /; only the signature was checked, because the answer has no proof that its log contains this\.$/,
    );
  });

  test("shows control characters and other scripts as escapes", async () => {
    expect(await proved({ claims: { payee: { domain: "\u001b[2Jrep\u202eorts" } } })).toContain(
      String.raw`to \u{1b}[2Jrep\u{202e}orts, and`,
    );
  });
});

test("claims that a later version adds are ignored, and not returned", async () => {
  const { receipt } = await issue(key, { claims: { later: true } });
  const verdict = await verifyReceipt({ receipt }, keys);
  expect(verdict).toMatchObject({ ok: true, withProof: false, claims: { kind: "authorization", outcome: "allow" } });
  expect(verdict).not.toHaveProperty("claims.later");
});

test("a receipt of a decision has no settlement, and only a denial has a denial code", async () => {
  for (const claims of [{ settlement: { status: "settled" } }, { denialCode: "seller_denied" }])
    expect(await verifyReceipt(await issue(key, { claims }), keys)).toMatchObject({ ok: false, step: "receipt" });
});

test("text that UTF-8 cannot represent is refused, though its hash equals that of the replacement character", async () => {
  const answer = await issue(key, { event: { note: "\ufffd" } });
  expect(await verifyReceipt(answer, keys)).toMatchObject({ ok: true });
  const proof = { ...answer.proof, event: answer.proof.event.replace("\ufffd", "\ud800") };
  expect(await verifyReceipt({ ...answer, proof }, keys)).toMatchObject({ ok: false, step: "receipt" });
});

describe("the published keys", () => {
  const refused = async (changed: unknown) =>
    expect(await verifyReceipt(await issue(key), changed)).toMatchObject({ ok: false, step: "receipt" });

  test("must be a set with the keys and their thumbprints", async () => {
    await refused(null);
    await refused({ keys: [] });
    await refused([key.public]);
    await refused({ keys: [key.public, { ...earlier.public, kid: "another" }] });
    await refused({ keys: [{ ...key.public, alg: "ES384" }] });
    await refused({ keys: [{ ...key.public, d: key.private.d }] });
  });

  test("may have other members and keys of other kinds, which are ignored", async () => {
    const rsa = { kty: "RSA", n: "AQAB", e: "AQAB", kid: "another" };
    const published = { keys: [rsa, { ...key.public, exp: 1, x5t: "x" }, key.public], more: true };
    expect(await verifyReceipt(await issue(key), published)).toMatchObject({ ok: true, withProof: true });
  });

  test("must contain the key of the receipt, and the key of the signed head", async () => {
    await refused({ keys: [earlier.public] });
    expect(await verifyReceipt(await issue(key, { headSigner: earlier }), { keys: [key.public] })).toMatchObject({
      ok: false,
      step: "head",
    });
  });

  test("a key that is not a point on the curve verifies nothing", async () => {
    const { calculateJwkThumbprint } = await import("jose");
    const bad = { ...key.public, y: earlier.public.y as string };
    const kid = await calculateJwkThumbprint(bad);
    const receipt = await sign(key, "decision-receipt+jwt", decision("allow")[0], { kid });
    expect(await verifyReceipt({ receipt }, { keys: [{ ...bad, kid }] })).toMatchObject({ ok: false, step: "receipt" });
  });
});

test("JSON texts give the same result as their parsed values, unless they are not JSON or have a member twice", async () => {
  const answer = JSON.stringify(await issue(key));
  const published = JSON.stringify(keys);
  expect(await verifyReceiptText(answer, published)).toMatchObject({ ok: true, withProof: true });
  for (const [one, two, name] of [
    [answer.slice(1), published, "answer"],
    [answer.replace("{", '{"receipt":"",'), published, "answer"],
    [answer, "", "keys"],
    [answer, published.replace("{", '{"keys":[],'), "keys"],
  ] as const)
    expect(await verifyReceiptText(one, two)).toEqual({
      ok: false,
      step: "receipt",
      detail: `The text of the ${name} is not JSON in which every member occurs once.`,
    });
});

test("JSON in which a member occurs twice is not parsed", () => {
  for (const text of [
    '{"a":1,"a":1}',
    '{"b":[{"a":1,"c":{},"a":2}]}',
    String.raw`{"a":1,"\u0061":2}`,
    '{"\\"":1,"\\"":2}',
    '{"__proto__":1,"__proto__":2}',
  ])
    expect(() => parseStrictJson(text)).toThrow("A member occurs twice.");
  fc.assert(
    fc.property(fc.json(), (text) => {
      expect(parseStrictJson(text)).toEqual(JSON.parse(text));
    }),
  );
});

/** One change of a JSON value: of a character in a text, a number, an element or a member. `how` selects the kind. */
type Edit = { readonly at: number; readonly how: number; readonly character: string };
const anyEdit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat(),
  how: fc.nat(),
  character: fc.oneof(
    fc.constantFrom(...'0123456789abcdefABCDEF-_=+."{}[]:, \n'),
    fc.string({ unit: "binary", minLength: 1, maxLength: 1 }),
  ),
});

function editText(text: string, { at, how, character }: Edit): string {
  const start = at % text.length;
  return text.slice(0, start) + (how % 3 === 0 ? "" : character) + text.slice(start + (how % 3 === 2 ? 0 : 1));
}

type Container = Record<string, unknown>;
const containersOf = (value: unknown): Container[] =>
  typeof value === "object" && value !== null ? [value as Container, ...Object.values(value).flatMap(containersOf)] : [];

function editValue(value: unknown, { at, how, character }: Edit): void {
  const places = containersOf(value).flatMap((container) => Object.keys(container).map((name) => [container, name] as const));
  const place = places[at % places.length];
  if (!place) return;
  const [container, name] = place;
  const old = container[name];
  const edits: (() => void)[] = [
    () => (Array.isArray(container) ? container.splice(Number(name), 1) : delete container[name]),
    () => (container[`${name}${character}`] = old),
    () =>
      (container[name] =
        typeof old === "string"
          ? editText(old || " ", { at, how: how >> 3, character })
          : typeof old === "number"
            ? old + 1
            : null),
    () => (container[name] = typeof old === "number" ? old - 1 : [old]),
    // Only a path is reversed, because the order of the list of keys, which is the only other array, has no meaning.
    () => (container[name] = Array.isArray(old) && name === "path" ? old.toReversed() : character),
    () => (Array.isArray(container) ? container.push(old) : delete container[name]),
  ];
  edits[how % edits.length]?.();
}

describe("a change at any place", () => {
  const original = issue(key, { headSigner: earlier, place: [5, 8], logPlace: [2, 3] });

  async function expectRefused(answer: unknown, published: unknown, first: unknown): Promise<void> {
    const verdict = await verifyReceipt(answer, published);
    if (!verdict.ok) {
      expect(verdict.detail).toMatch(/\.$/);
      return;
    }
    // The answer is valid only if the edit changed nothing that counts, or removed the whole proof (`withProof` is then false).
    const needed = verdict.withProof ? [key.public, earlier.public] : [key.public];
    expect((published as { keys: unknown }).keys).toEqual(
      expect.arrayContaining(needed.map((one) => expect.objectContaining(one) as unknown)),
    );
    expect(answer).toEqual(verdict.withProof ? first : { receipt: (first as { receipt: string }).receipt });
  }

  test("of a value in the answer or in the keys is refused", async () => {
    const first = await original;
    const property = fc.asyncProperty(anyEdit, async (edit) => {
      const changed = structuredClone({ answer: first, keys });
      editValue(changed, edit);
      const json = JSON.parse(JSON.stringify(changed)) as { readonly answer: unknown; readonly keys: unknown };
      await expectRefused(json.answer, json.keys, first);
    });
    await fc.assert(property, { numRuns: 3_000 });
  });

  test("of a character in their JSON text is refused", async () => {
    const first = await original;
    const property = fc.asyncProperty(anyEdit, fc.boolean(), async (edit, ofKeys) => {
      const texts = [JSON.stringify(first), JSON.stringify(keys)].map((text, at) =>
        (at === 1) === ofKeys ? editText(text, edit) : text,
      );
      let parsed: unknown[];
      try {
        parsed = texts.map(parseStrictJson);
      } catch {
        return;
      }
      await expectRefused(parsed[0], parsed[1], first);
    });
    await fc.assert(property, { numRuns: 3_000 });
  });

  test("to any other JSON gives a verdict and never an exception", async () => {
    const { receipt, proof } = await original;
    const property = fc.asyncProperty(fc.jsonValue(), fc.jsonValue(), async (one, two) => {
      for (const answer of [one, { receipt: one }, { receipt, proof: one }, { receipt, proof: { ...proof, log: one } }])
        expect((await verifyReceipt(answer, keys)).ok).toBe(false);
      for (const published of [one, { keys: one }, { keys: [one, two] }, { keys: [{ ...key.public, kid: one, x: two }] }])
        expect((await verifyReceipt({ receipt, proof }, published)).ok).toBe(false);
      const token = await sign(key, "decision-receipt+jwt", JSON.stringify(one));
      expect((await verifyReceipt({ receipt: token }, keys)).ok).toBe(false);
    });
    await fc.assert(property, { numRuns: 200 });
  });
});
