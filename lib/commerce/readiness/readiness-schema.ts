/** Imports no server code, so that a browser can load it. */
import { z } from "zod";
import { ItemMetadata, OrderItem, OrderItems, StorefrontUrl } from "#lib/approvals/order-item-schema.ts";
import { ClientId, Id } from "#lib/ids.ts";
import { AmountText } from "#lib/amount-text.ts";
import { ErrorBody, NextAction } from "#lib/problem.ts";
import { Address, AssetSymbol, ChainName } from "#lib/evm.ts";
import { ReadinessCheckStatus, ReadinessKey, ReadinessStatus } from "#lib/vocabulary.ts";

export const CheckReadiness = z
  .strictObject({
    mandateId: Id,
    storefrontUrl: StorefrontUrl,
    sellerId: Id.optional(),
    resourceId: ClientId.optional(),
    paymentChallenge: z.string().max(32).optional(),
    paymentMode: z.string().max(32).optional(),
    chain: ChainName.optional(),
    asset: AssetSymbol.optional(),
    amount: AmountText.optional(),
    payTo: Address.optional(),
    tokenAddress: Address.optional(),
    tokenName: z.string().max(64).optional(),
    tokenVersion: z.string().max(16).optional(),
    tokenDecimals: z.int().min(0).max(36).optional(),
    items: OrderItems.optional(),
    idempotencyKey: ClientId.optional(),
    metadata: ItemMetadata.optional(),
    expiresInSeconds: z.int().min(1).max(86_400).default(900),
  })
  .meta({ id: "CheckReadiness" });
export type CheckReadiness = z.output<typeof CheckReadiness>;

export const ReadinessScope = z
  .object({
    mandateId: z.string(),
    storefrontUrl: z.string(),
    sellerId: z.string().optional(),
    resourceId: z.string().optional(),
    paymentChallenge: z.string().optional(),
    paymentMode: z.string().optional(),
    chain: z.string().optional(),
    asset: z.string().optional(),
    amount: z.string().optional(),
    payTo: z.string().optional(),
    tokenAddress: z.string().optional(),
    tokenName: z.string().optional(),
    tokenVersion: z.string().optional(),
    tokenDecimals: z.number().int().optional(),
    items: z.array(OrderItem).optional(),
    idempotencyKey: z.string().optional(),
    metadata: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({
    id: "ReadinessScope",
    description:
      "What was checked: the fields of the request, completed by those of the storefront. metadata contains expiresInSeconds.",
  });
export type ReadinessScope = z.input<typeof ReadinessScope>;

export const ReadinessCheck = z
  .object({
    key: ReadinessKey,
    status: ReadinessCheckStatus,
    message: z.string(),
    problem: ErrorBody.optional(),
    nextActions: z.array(NextAction),
  })
  .meta({ id: "ReadinessCheck", description: "One requirement of an order, and whether it is met." });
export type ReadinessCheck = z.input<typeof ReadinessCheck>;

export const RequiredAction = NextAction.extend({ blocking: z.boolean() }).meta({
  id: "RequiredAction",
  description: "Something to do before an order. blocking: without it no order can be placed.",
});

export const Readiness = z
  .object({
    status: ReadinessStatus,
    mandateId: z.string(),
    scope: ReadinessScope,
    checks: z.array(ReadinessCheck),
    requiredActions: z.array(RequiredAction),
  })
  .meta({ id: "CommerceReadiness", description: "Whether an order could be placed now. The status is that of the worst check." });
