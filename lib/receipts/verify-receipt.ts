import type { z } from "zod";
import { checkEvent, readEvent } from "#lib/receipts/check-event.ts";
import { headToken, readJws, receiptToken } from "#lib/receipts/compact-jws.ts";
import { hashOfLeaf, rootOfInclusion, type Position } from "#lib/receipts/inclusion.ts";
import { provedSentence } from "#lib/receipts/proved.ts";
import { readKeys, type PublishedKeys } from "#lib/receipts/published-keys.ts";
import { Answer, Head, Receipt, type Proof } from "#lib/receipts/receipt-schema.ts";
import { Refusal, type Step } from "#lib/receipts/refusal.ts";
import { parseStrictJson } from "#lib/receipts/strict-json.ts";

export type Verdict =
  | { readonly ok: true; readonly proved: string; readonly claims: Receipt; readonly withProof: boolean }
  | { readonly ok: false; readonly step: Step; readonly detail: string };

function readShape<S extends z.ZodType>(schema: S, value: unknown, detail: string): z.output<S> {
  const parsed = schema.safeParse(value);
  if (!parsed.success) {
    const path = parsed.error.issues[0]?.path.join(".") ?? "";
    throw new Refusal(path === "" ? `${detail}.` : `${detail} (see ${path.slice(0, 100)}).`);
  }
  return parsed.data;
}

async function requireRoot(leaf: string, position: Position): Promise<string> {
  const root = await rootOfInclusion(leaf, position);
  if (root === null)
    throw new Refusal(
      "The path does not belong to this index and this size of the log, so it cannot show that the log contains the event.",
    );
  return root;
}

async function checkLeaf({ log }: Receipt, proof: Proof): Promise<string> {
  const leaf = await hashOfLeaf(proof.event);
  if (leaf !== log.leafHash) throw new Refusal("The event is not the one that the receipt names: its hash differs.");
  if (proof.leafIndex !== log.leafIndex)
    throw new Refusal("The proof is for another place in the log than the one that the receipt names.");
  return leaf;
}

/** `proof.log` is about a second log, which records the signed heads of the other logs. Returns the root of the second log. */
async function checkLog({ log: { chain } }: Receipt, { log, treeSize }: Proof, root: string): Promise<string> {
  const { type, entityId, metadata } = readEvent(log.event);
  if (type !== "auditChain.signed") throw new Refusal("The second event does not record a signed head of a log.");
  if (entityId !== `chain:${chain}`)
    throw new Refusal("The signed head belongs to another log than the one that the receipt names.");
  if (metadata["sequence"] !== treeSize || metadata["hash"] !== root)
    throw new Refusal(
      "The service signed another head of this log, so the log that it signed does not contain this event at this place.",
    );
  return requireRoot(await hashOfLeaf(log.event), log);
}

async function checkHead({ iss }: Receipt, { head, log }: Proof, root: string, keys: PublishedKeys): Promise<void> {
  const signed = readShape(Head, await readJws(head, headToken, keys), "The signed head does not have the members of a head");
  if (signed.iss !== iss) throw new Refusal("The signed head is from another service than the receipt.");
  if (signed.log !== "checkpoints") throw new Refusal("The signed head belongs to another log than the one of signed heads.");
  if (signed.size !== log.treeSize || signed.root !== root)
    throw new Refusal("The signed head has another size or root than the log in the proof, so the proof was changed.");
}

/** Checks untrusted JSON as docs/receipts describes, in browsers (WebCrypto) and in Node, and sends no request. */
export async function verifyReceipt(answer: unknown, keys: unknown): Promise<Verdict> {
  let step: Step = "receipt";
  try {
    const { receipt: token, proof } = readShape(Answer, answer, "This is not an answer with a receipt as the service writes it");
    const published = await readKeys(keys);
    const content = await readJws(token, receiptToken, published);
    const claims = readShape(Receipt, content, "The receipt does not have the claims of a receipt");
    if (!proof) return { ok: true, proved: provedSentence(claims, null), claims, withProof: false };
    step = "leaf";
    const leaf = await checkLeaf(claims, proof);
    step = "event";
    const event = readEvent(proof.event);
    checkEvent(claims, event);
    step = "inclusion";
    const root = await requireRoot(leaf, proof);
    step = "log";
    const logRoot = await checkLog(claims, proof, root);
    step = "head";
    await checkHead(claims, proof, logRoot, published);
    return { ok: true, proved: provedSentence(claims, event), claims, withProof: true };
  } catch (error) {
    if (error instanceof Refusal) return { ok: false, step, detail: error.message };
    throw error;
  }
}

/** Like verifyReceipt, for JSON texts. No object in them may have the same member twice. */
export async function verifyReceiptText(answer: string, keys: string): Promise<Verdict> {
  const values: unknown[] = [];
  for (const [name, text] of [
    ["answer", answer],
    ["keys", keys],
  ] as const) {
    try {
      values.push(parseStrictJson(text));
    } catch {
      return { ok: false, step: "receipt", detail: `The text of the ${name} is not JSON in which every member occurs once.` };
    }
  }
  return verifyReceipt(values[0], values[1]);
}
