import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { PageQuery, pageOf } from "#lib/http/paging.ts";
import { Id } from "#lib/ids.ts";
import {
  ListedResource,
  PaidResource,
  ProbeResource,
  RegisterSeller,
  ResourceProbe,
  Seller,
  UpsertPaidResource,
} from "#lib/sellers/resource-schema.ts";
import { Why } from "#lib/audit-event.ts";

const exampleSeller = {
  sellerId: "sel_01kaj4n7v8e2m0x3c9t5q6r7s9",
  name: "Example Data",
  domain: "data.example.com",
  verified: false,
  minimumAssuranceLevel: "softwareApproved",
} as const;

const asked = {
  sellerId: exampleSeller.sellerId,
  method: "GET",
  pathTemplate: "/reports/daily",
  description: "The daily report",
  pricing: { type: "fixed", amount: "0.25", asset: "USDC" },
  acceptedPaymentChallengeTypes: ["x402"],
  paymentConfig: { chain: "eip155:84532", payTo: "0x209693bc6afc0c5328ba36faf03c514ef312287c" },
} as const;

const exampleResource = {
  resourceId: "daily-report",
  ...asked,
  configurationSource: "api",
  minimumAssuranceLevel: "softwareApproved",
  paymentConfig: { ...asked.paymentConfig, settlementMode: "offchainAuthorized", maxTimeoutSeconds: 300 },
} as const;

export const registerSeller = operation({
  id: "registerSeller",
  method: "POST",
  path: "/api/v1/sellers",
  tag: "Sellers",
  summary: "Register a seller",
  description: "The domain is stored in its canonical form. A new seller is unverified.",
  access: { capability: "sellers:manage" },
  status: 201,
  body: RegisterSeller,
  response: Seller,
  problems: ["conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { body: { name: exampleSeller.name, domain: exampleSeller.domain }, response: exampleSeller },
});

export const listSellers = operation({
  id: "listSellers",
  method: "GET",
  path: "/api/v1/sellers",
  tag: "Sellers",
  summary: "List the organization's sellers, newest first",
  access: { capability: "sellers:read" },
  query: PageQuery,
  response: pageOf(Seller),
  problems: [],
  example: { query: { limit: "20" }, response: { items: [exampleSeller], hasMore: false } },
});

export const getSeller = operation({
  id: "getSeller",
  method: "GET",
  path: "/api/v1/sellers/{id}",
  tag: "Sellers",
  summary: "Read a seller",
  description: "Every organization may read every seller: buyers name them in their mandates.",
  access: "authenticated",
  response: Seller,
  problems: ["not_found"],
  example: { params: { id: exampleSeller.sellerId }, response: exampleSeller },
});

export const verifySellerDomain = operation({
  id: "verifySellerDomain",
  method: "POST",
  path: "/api/v1/sellers/{id}/verify-domain",
  tag: "Sellers",
  summary: "Prove that a seller controls its domain",
  description:
    "Reads the seller's token at /.well-known/countersign.txt of its domain, or in the TXT records of _countersign.<domain>. If the token is missing, the next action of the refusal says what to publish and where. A domain is verified for only one organization. Before that, an organization can call this ten times a minute.",
  access: { capability: "sellers:manage" },
  body: z.strictObject({ method: z.enum(["wellKnown", "dns"]) }).meta({ id: "VerifySellerDomain" }),
  response: Seller,
  problems: [
    "idempotency_in_flight",
    "idempotency_key_reused",
    "not_found",
    "conflict",
    "storefront_unavailable",
    "storefront_invalid",
  ],
  example: {
    params: { id: exampleSeller.sellerId },
    body: { method: "wellKnown" },
    response: { ...exampleSeller, verified: true },
  },
});

export const upsertPaidResource = operation({
  id: "upsertPaidResource",
  method: "PUT",
  path: "/api/v1/seller/resources/{id}",
  tag: "Sellers",
  summary: "Create or replace a paid resource",
  description:
    "The seller chooses the id; another seller may use the same id. Fields that are left out get their defaults. An archived resource becomes active again.",
  access: { capability: "resources:manage" },
  body: UpsertPaidResource,
  response: PaidResource,
  problems: ["idempotency_in_flight", "idempotency_key_reused", "not_found"],
  example: { params: { id: exampleResource.resourceId }, body: asked, response: exampleResource },
});

/** `sellerId` is needed if several sellers of the organization use the same resourceId; in listResources it limits the list. */
const WhichSeller = z.strictObject({ sellerId: Id.optional() });

export const listResources = operation({
  id: "listResources",
  method: "GET",
  path: "/api/v1/seller/resources",
  tag: "Sellers",
  summary: "List the organization's paid resources",
  access: { capability: "sellers:read" },
  query: z.strictObject({ ...PageQuery.shape, ...WhichSeller.shape }),
  response: pageOf(ListedResource).meta({ id: "PaidResourceList" }),
  problems: [],
  example: { query: { limit: "20" }, response: { items: [{ ...exampleResource, payToProven: true }], hasMore: false } },
});

export const getResource = operation({
  id: "getResource",
  method: "GET",
  path: "/api/v1/seller/resources/{id}",
  tag: "Sellers",
  summary: "Read a paid resource",
  access: { capability: "sellers:read" },
  query: WhichSeller,
  response: ListedResource,
  problems: ["not_found"],
  example: { params: { id: exampleResource.resourceId }, response: { ...exampleResource, payToProven: true } },
});

export const archiveResource = operation({
  id: "archiveResource",
  method: "POST",
  path: "/api/v1/seller/resources/{id}/archive",
  tag: "Sellers",
  summary: "Archive a paid resource",
  description: "No new payment for it is authorized; payments that were submitted are followed to their end.",
  access: { capability: "resources:manage" },
  body: WhichSeller.meta({ id: "ArchiveResource" }),
  response: PaidResource,
  problems: ["idempotency_in_flight", "idempotency_key_reused", "not_found"],
  example: { params: { id: exampleResource.resourceId }, body: {}, response: exampleResource },
});

export const probeResource = operation({
  id: "probeResource",
  method: "POST",
  path: "/api/v1/seller/resources/{id}/probe",
  tag: "Sellers",
  summary: "Request a paid resource without paying",
  description:
    "Sends the request that an agent sends before it pays to the seller's domain, and compares the 402 with the registered values. If they differ, payments are denied with challenge_mismatch. Nothing is paid and nothing is stored. It works for GET resources, and for POST resources at a verified domain. An organization can send ten requests a minute to domains that are not verified.",
  access: { capability: "resources:manage" },
  body: ProbeResource,
  response: ResourceProbe,
  problems: ["not_found", "conflict", "storefront_unavailable", "storefront_invalid"],
  example: {
    params: { id: exampleResource.resourceId },
    body: {},
    response: {
      url: "https://data.example.com/reports/daily",
      status: 402,
      payable: false,
      findings: [
        {
          field: "amount",
          pointer: "/accepts/0/amount",
          expected: "250000",
          actual: "300000",
          message: "The 402 asks for another amount.",
        },
      ],
    },
  },
});

export const verifySeller = operation({
  id: "verifySeller",
  method: "POST",
  path: "/api/v1/platform/sellers/{id}/verify",
  tag: "Platform",
  summary: "Verify a seller, or take its verification back",
  description:
    "Replaces the seller's own proof. A domain is verified for only one organization. Mandates that ask for verified sellers see the change with the next payment.",
  access: { platformCapability: "platform.sellers.verify" },
  body: z.strictObject({ verified: z.boolean(), reason: Why }).meta({ id: "VerifySeller" }),
  response: Seller,
  problems: ["forbidden", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    params: { id: exampleSeller.sellerId },
    body: { verified: true, reason: "Papers seen, ticket 51" },
    response: { ...exampleSeller, verified: true },
  },
});
