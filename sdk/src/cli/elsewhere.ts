import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import type { AskedIntent } from "../operations.ts";
import { WrongUse, type Said, type Values } from "./arguments.ts";
import { client, waiting } from "./settings.ts";

const KINDS = ["iban", "email", "account"] as const;

/** @throws WrongUse */
function amountOf({ amount, asset }: Values) {
  if (amount === undefined || asset === undefined) throw new WrongUse("Name the amount and its asset: --amount 100 --asset USD.");
  return { amount, asset };
}

/** The payee from `kind:value`. @throws WrongUse */
function payeeOf(text: string): NonNullable<AskedIntent["payee"]> {
  const colon = text.indexOf(":");
  const kind = KINDS.find((one) => one === text.slice(0, Math.max(colon, 0)));
  const value = text.slice(colon + 1).trim();
  if (kind === undefined || value === "")
    throw new WrongUse("Write who is paid as iban:…, email:… or account:…, such as --payee iban:DE89370400440532013000.");
  return { kind, value };
}

/** Asks to pay something elsewhere, and waits for a person if one must approve. */
export async function authorize(values: Values): Promise<Said> {
  const { payee, seller, reference, purpose, operation } = values;
  if (seller === undefined || reference === undefined)
    throw new WrongUse("Name who is paid and for what: --seller NAME --reference INVOICE.");
  const asked = {
    ...amountOf(values),
    seller: { name: seller },
    reference,
    ...(payee !== undefined && { payee: payeeOf(payee) }),
    ...(purpose !== undefined && { purpose }),
    ...(operation !== undefined && { operation }),
  };
  const json = await (await client(waiting(values))).authorize(asked);
  const { authorizationId, paid, asset, deadline } = json;
  const before = paid === "0" ? "" : ` ${paid} ${asset} of it is recorded as paid.`;
  const text = `Authorized as ${authorizationId}.${before} Pay it yourself, and record it by ${deadline}.`;
  return { json, text };
}

async function evidenceOf(file: string): Promise<{ readonly sha256: string }> {
  const bytes = await readFile(file).catch((error: Error) => {
    throw new WrongUse(`The file ${file} cannot be read: ${error.message}`);
  });
  return { sha256: createHash("sha256").update(bytes).digest("hex") };
}

/** Records a part of what was paid. */
export async function record(authorizationId: string, values: Values): Promise<Said> {
  if (authorizationId === "") throw new WrongUse("Name the authorization, which begins with aut_.");
  const { partly, evidence, reference, operation, "paid-at": paidAt } = values;
  const part = {
    authorizationId,
    ...amountOf(values),
    ...(reference !== undefined && { reference }),
    ...(operation !== undefined && { operation }),
    outcome: partly ? "partlyPaid" : "paid",
    ...(paidAt !== undefined && { paidAt }),
    ...(evidence !== undefined && { evidence: await evidenceOf(evidence) }),
  } as const;
  const json = await (await client()).record(part);
  const { paid, asset, open, unit, status, asks } = json.payment;
  const held =
    status === "closed" ? "The payment is closed." : `${open} ${unit} is still held until a person closes the payment.`;
  const more = asks === "exceeded" ? " More was paid than was held, and a person is asked." : "";
  return { json, text: `Recorded. ${paid} ${asset} is paid so far. ${held}${more}` };
}
