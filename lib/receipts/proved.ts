import { formatAmount } from "#lib/money.ts";
import type { LogEvent, Receipt } from "#lib/receipts/receipt-schema.ts";

const MOST = 200;

/** Cuts signed text and escapes all but printable ASCII, which could control a terminal or hide text. */
function plain(text: string): string {
  const short = text.length > MOST ? `${text.slice(0, MOST)}...` : text;
  return short.replaceAll(/[^\x20-\x7e]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

const timeOf = (at: Date): string => `${at.toISOString().slice(0, 19).replace("T", " at ")} UTC`;

function payeeOf({ domain, payTo, sellerId }: Receipt["payee"]): string {
  if (domain !== undefined && payTo !== undefined) return `${plain(domain)} (${plain(payTo)})`;
  const payee = domain ?? payTo ?? sellerId;
  return payee === undefined ? "a payee without a name" : plain(payee);
}

/** The receipt names the token only by its address, so the symbol is taken from the event in the proof, if it has one. */
function amountOf({ amount, decimals, asset }: Receipt, event: LogEvent | null): string {
  const symbol = event?.metadata["asset"];
  const number = formatAmount(BigInt(amount), decimals);
  return typeof symbol === "string" && /^[A-Za-z0-9.]{1,16}$/.test(symbol)
    ? `${number} ${symbol} (${plain(asset)})`
    : `${number} of the token ${plain(asset)}`;
}

function claimOf(receipt: Receipt, payment: string): string {
  if (receipt.kind === "authorization") {
    if (receipt.outcome === "allow") return `it allowed ${payment}`;
    if (receipt.outcome === "requireApproval") return `it asked a person to approve ${payment}`;
    return receipt.denialCode === undefined ? `it denied ${payment}` : `it denied ${payment} (${plain(receipt.denialCode)})`;
  }
  if (receipt.kind === "approval") return `a person approved ${payment} (${plain(receipt.approval.assurance)})`;
  const { status, transaction } = receipt.settlement;
  const chain = plain(receipt.asset.split("/")[0] ?? "");
  const by = transaction === undefined ? "" : ` in the transaction ${plain(transaction)} on ${chain}`;
  if (status === "settled") return `${payment} was settled${by}`;
  if (status === "failed") return `${payment} failed`;
  if (status === "unknown") return `it does not know yet whether ${payment} was settled`;
  return `${payment} is not settled yet`;
}

const contained = { authorization: "the decision", approval: "the approval", execution: "this state" } as const;

/** A sentence that says what a receipt proves. `event` is null if the answer has no proof. */
export function provedSentence(receipt: Receipt, event: LogEvent | null): string {
  const payment = `a payment of ${amountOf(receipt, event)} to ${payeeOf(receipt.payee)}`;
  const when = event?.createdAt === undefined ? "" : ` on ${timeOf(new Date(event.createdAt))}`;
  const signed = `${plain(receipt.iss)} signed this receipt on ${timeOf(new Date(receipt.iat * 1_000))}`;
  const stated = `${signed}. It states that${when} ${claimOf(receipt, payment)}`;
  return event === null
    ? `${stated}; only the signature was checked, because the answer has no proof that its log contains this.`
    : `${stated}, and its signed log contains ${contained[receipt.kind]}.`;
}
