import { readAmount } from "#lib/money.ts";
import { LogEvent, type Receipt } from "#lib/receipts/receipt-schema.ts";
import { Refusal } from "#lib/receipts/refusal.ts";
import { parseObject } from "#lib/receipts/strict-json.ts";
import type { SettlementStatus } from "#lib/vocabulary.ts";

/** Parses the text of an audit event. @throws Refusal */
export function readEvent(text: string): LogEvent {
  const { data } = LogEvent.safeParse(parseObject(text));
  if (!data) throw new Refusal("The text that the log contains is not an event of the service.");
  return data;
}

const decisionTypes = {
  allow: "payment.authorized",
  deny: "payment.denied",
  requireApproval: "payment.approvalRequired",
} as const;

/** For each settlement status, the types of events that state it. */
export const executionTypes: Readonly<Record<SettlementStatus, readonly string[]>> = {
  pending: ["payment.submitted", "payment.reorganized"],
  processing: ["payment.submitted", "payment.processing", "payment.reorganized"],
  settled: ["payment.settled"],
  failed: ["payment.failed"],
  unknown: ["payment.unknown"],
};

function isAmount({ amount, decimals }: Receipt, text: unknown): boolean {
  const parsed = typeof text === "string" ? readAmount(text, decimals) : undefined;
  return parsed?.ok === true && parsed.amount === BigInt(amount);
}

const isOnChain = ({ asset }: Receipt, chain: unknown): boolean => typeof chain === "string" && asset.startsWith(`${chain}/`);

type Check = readonly [what: string, agrees: boolean];

function decisionChecks(receipt: Receipt, { type, entityId, subjectId, metadata }: LogEvent): Check[] {
  return [
    ["the payment", entityId === receipt.sub],
    ["the outcome", type === decisionTypes[receipt.outcome]],
    ["the reason of the denial", metadata["denialCode"] === receipt.denialCode],
    ["the chain of the asset", isOnChain(receipt, metadata["chain"])],
    ["the mandate's version", metadata["policyVersion"] === receipt.mandate.version],
    ["the decision", metadata["policyDecisionId"] === receipt.jti],
    ["the agent", subjectId === receipt.agent],
    ["the amount", isAmount(receipt, metadata["amount"])],
  ];
}

function executionChecks(receipt: Extract<Receipt, { kind: "execution" }>, { type, entityId, metadata }: LogEvent): Check[] {
  const { status, transaction } = receipt.settlement;
  return [
    ["the execution", entityId === receipt.jti],
    ["the payment", metadata["authorizationId"] === receipt.sub],
    ["the settlement", executionTypes[status].includes(type)],
    ["the transaction", status !== "settled" || metadata["settlementReference"] === transaction],
  ];
}

function approvalChecks(receipt: Extract<Receipt, { kind: "approval" }>, { type, subjectId, metadata }: LogEvent): Check[] {
  const { approval, payee } = receipt;
  return [
    ["the approval", type === "checkout.approved" && metadata["approvalId"] === receipt.jti && approval.id === receipt.jti],
    ["the payment", metadata["authorizationId"] === receipt.sub],
    ["the basket", metadata["basketHash"] === approval.basketHash],
    ["how the person confirmed", metadata["assuranceLevel"] === approval.assurance],
    ["the agent", subjectId === receipt.agent],
    ["the amount", metadata["amountAtomic"] === receipt.amount],
    ["the chain of the asset", isOnChain(receipt, metadata["chain"])],
    ["the payee", metadata["payTo"] === payee.payTo],
  ];
}

function checksOf(receipt: Receipt, event: LogEvent): Check[] {
  if (receipt.kind === "execution") return executionChecks(receipt, event);
  return receipt.kind === "approval" ? approvalChecks(receipt, event) : decisionChecks(receipt, event);
}

/** Requires that the event states the same as the receipt. @throws Refusal */
export function checkEvent(receipt: Receipt, event: LogEvent): void {
  const checks: Check[] = [...checksOf(receipt, event), ["the mandate", event.metadata["mandateId"] === receipt.mandate.id]];
  const wrong = checks.find(([, agrees]) => !agrees);
  if (wrong) throw new Refusal(`The event in the log does not agree with the receipt about ${wrong[0]}.`);
}
