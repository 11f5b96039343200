import { z } from "zod";
import {
  AskedFeeQuote,
  AssignSubscription,
  Fee,
  FeeSchedule,
  SaveFeeSchedule,
  Subscription,
} from "#lib/billing/billing-schema.ts";
import { feeQuoteExample } from "#lib/billing/fee-quote-example.ts";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { FeeQuote } from "#lib/payment-intent.ts";

const buyerOrganizationId = "org_01kaj4n7v8e2m0x3c9t5q6r7s1";
const sellerOrganizationId = "org_01kaj4n7v8e2m0x3c9t5q6r7s2";
const feeScheduleId = "fs_01kaj4n7v8e2m0x3c9t5q6r7s3";
const createdAt = "2026-11-21T12:00:00.000Z";

export const quoteFee = operation({
  id: "quoteFee",
  method: "POST",
  path: "/api/v1/billing/fee-quote",
  tag: "Billing",
  summary: "Quote the service's fee on a payment",
  description:
    "The most specific schedule for buyer and seller applies. The seller is paid the gross amount; fees are debts. The quote is valid for 15 minutes. Name a seller of another organization by sellerId; its sellerOrganizationId alone answers 404. Its resources are not read, so send `chain` if the installation has several.",
  access: { capability: "billing:quote" },
  body: AskedFeeQuote,
  response: FeeQuote,
  problems: [
    "idempotency_in_flight",
    "idempotency_key_reused",
    "not_found",
    "chain_unsupported",
    "asset_unsupported",
    "fee_payer_mismatch",
  ],
  variants: [409, 422],
  example: {
    body: {
      amount: "0.25",
      asset: "USDC",
      settlementMode: "offchainAuthorized",
      chain: "eip155:84532",
      sellerId: "sel_01kaj4n7v8e2m0x3c9t5q6r7s9",
    },
    response: {
      ...feeQuoteExample,
      feeScheduleId,
      buyerOrganizationId,
      sellerOrganizationId,
      serviceFeeAmount: "0.0025",
      feeScheduleHash: "88a8a2e02b5214175b51c0eaa9c302800ed96852a76b710e235d1b38fbf46582",
      expiresAt: "2026-11-21T12:15:00.000Z",
      createdAt,
    },
  },
});

const exampleSchedule = {
  feeScheduleId,
  name: "Developer plan",
  status: "active",
  planTier: "developer",
  settlementMode: "offchainAuthorized",
  asset: "USDC",
  feePayer: "buyer",
  feeRecipient: "service",
  percentageBps: 100,
  flatAmount: "0",
  maximumFeeAmount: "1",
  includedMonthlyVolume: 1000,
  effectiveFrom: createdAt,
  createdAt,
  updatedAt: createdAt,
} as const;

export const saveFeeSchedule = operation({
  id: "saveFeeSchedule",
  method: "POST",
  path: "/api/v1/billing/fee-schedules",
  tag: "Billing",
  summary: "Create or replace a fee schedule",
  description: "With feeScheduleId all terms are replaced; fields that are left out get their defaults.",
  access: { platformCapability: "platform.feeSchedules.manage" },
  body: SaveFeeSchedule,
  response: FeeSchedule,
  problems: ["forbidden", "idempotency_in_flight", "idempotency_key_reused", "not_found"],
  example: {
    body: {
      name: "Developer plan",
      planTier: "developer",
      settlementMode: "offchainAuthorized",
      asset: "USDC",
      percentageBps: 100,
      maximumFeeAmount: "1",
      includedMonthlyVolume: 1000,
    },
    response: exampleSchedule,
  },
});

export const listFeeSchedules = operation({
  id: "listFeeSchedules",
  method: "GET",
  path: "/api/v1/billing/fee-schedules",
  tag: "Billing",
  summary: "List the fee schedules that concern the organization",
  description: "Those that name the organization or its tier, and those for everyone. A platform admin sees all.",
  access: { capability: "billing:read" },
  query: PageQuery,
  response: z.object({ items: z.array(FeeSchedule) }).meta({ id: "FeeScheduleList" }),
  problems: [],
  example: { response: { items: [exampleSchedule] } },
});

export const listFees = operation({
  id: "listFees",
  method: "GET",
  path: "/api/v1/billing/fees",
  tag: "Billing",
  summary: "List the organization's fee debts",
  access: { capability: "billing:read" },
  query: PageQuery,
  response: pageOf(Fee).meta({ id: "FeeList" }),
  problems: [],
  example: {
    query: { limit: "20" },
    response: {
      items: [
        {
          feeId: "fee_01kaj4n7v8e2m0x3c9t5q6r7se",
          authorizationId: "aut_01kaj4n7v8e2m0x3c9t5q6r7sa",
          side: "buyer",
          amount: "0.0025",
          asset: "USDC",
          kind: "accrual",
          createdAt,
        },
      ],
      hasMore: false,
    },
  },
});

export const assignSubscription = operation({
  id: "assignSubscription",
  method: "POST",
  path: "/api/v1/billing/subscription",
  tag: "Billing",
  summary: "Assign a subscription to an organization",
  description: "An organization has one subscription; assigning another replaces it.",
  access: { platformCapability: "platform.subscriptions.manage" },
  body: AssignSubscription,
  response: Subscription,
  problems: ["forbidden", "idempotency_in_flight", "idempotency_key_reused", "not_found"],
  example: {
    body: { organizationId: buyerOrganizationId, tier: "developer", status: "trialing" },
    response: {
      subscriptionId: "sub_01kaj4n7v8e2m0x3c9t5q6r7sf",
      organizationId: buyerOrganizationId,
      planId: "developer",
      tier: "developer",
      status: "trialing",
      currentPeriodStart: createdAt,
      currentPeriodEnd: "2026-12-21T12:00:00.000Z",
      billingProvider: "service",
      createdAt,
      updatedAt: createdAt,
    },
  },
});
