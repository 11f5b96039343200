import { z } from "zod";
import { operation } from "#lib/http/operation.ts";
import { ClientId, Id } from "#lib/ids.ts";
import { Address, ChainName } from "#lib/evm.ts";
import { Timestamp } from "#lib/time.ts";

const example = {
  challengeId: "ptc_01kaj4n7v8e2m0x3c9t5q6r7sa",
  sellerId: "sel_01kaj4n7v8e2m0x3c9t5q6r7s9",
  payTo: "0x209693Bc6afc0C5328bA36FaF03C514EF312287C",
  chain: "eip155:84532",
  at: "2026-11-21T12:00:00.000Z",
} as const;

const text = `https://pay.example.com asks for proof that you control this address.

Address: ${example.payTo}
Network: ${example.chain}
Organization: org_01kaj4n7v8e2m0x3c9t5q6r7s0
Seller: ${example.sellerId} at data.example.com
Environment: sandbox
Challenge: ${example.challengeId}
Valid until: 2026-11-21T12:15:00.000Z

Signing this moves no money and allows no payment.`;

export const challengePayTo = operation({
  id: "challengePayTo",
  method: "POST",
  path: "/api/v1/seller/pay-to/challenges",
  tag: "Sellers",
  summary: "Get the text that proves an address",
  description:
    "The owner of the address signs the text unchanged (EIP-191, personal_sign; a contract verifies by EIP-1271). Send the signature to provePayTo. The text names this organization, seller, address, network and environment, and is valid once, for 15 minutes.",
  access: { capability: "resources:manage" },
  status: 201,
  body: z
    .strictObject({
      sellerId: Id,
      payTo: Address,
      chain: ChainName.optional().meta({ description: "Default: the installation's only chain." }),
    })
    .meta({ id: "ChallengePayTo" }),
  response: z
    .object({
      challengeId: z.string(),
      sellerId: z.string(),
      payTo: z.string(),
      chain: z.string(),
      text: z.string().meta({ description: "The text to sign, byte for byte." }),
      expiresAt: Timestamp,
    })
    .meta({ id: "PayToChallenge", description: "A text that the owner of an address signs once." }),
  problems: ["not_found", "conflict", "rate_limited", "idempotency_in_flight", "idempotency_key_reused"],
  example: {
    body: { sellerId: example.sellerId, payTo: example.payTo, chain: example.chain },
    response: {
      challengeId: example.challengeId,
      sellerId: example.sellerId,
      payTo: example.payTo,
      chain: example.chain,
      text,
      expiresAt: "2026-11-21T12:15:00.000Z",
    },
  },
});

const BySignature = z.strictObject({
  method: z.literal("signature"),
  challengeId: Id,
  signature: z
    .string()
    .max(16_386)
    .regex(/^0x([0-9a-fA-F]{2})+$/, "Write the signature as 0x and hexadecimal digits."),
});
const ByDomain = z.strictObject({
  method: z.literal("domain"),
  sellerId: Id.meta({ description: "A seller that has verified its domain." }),
  resourceId: ClientId,
  path: z.string().max(2048).optional().meta({
    description: "The path to call, with its parameters filled in. It can be left out if the template has no parameters.",
  }),
});

export const provePayTo = operation({
  id: "provePayTo",
  method: "POST",
  path: "/api/v1/seller/pay-to/proofs",
  tag: "Sellers",
  summary: "Prove that the organization controls an address",
  description:
    "The proof is the signature of a challenge, or the 402 of a resource at the seller's verified domain, which the service requests itself. In production our facilitator settles payments only to proven addresses. A proof by the domain is valid as long as the domain is verified, and until another organization signs for the address.",
  access: { capability: "resources:manage" },
  body: z.discriminatedUnion("method", [BySignature, ByDomain]).meta({ id: "ProvePayTo" }),
  response: z
    .object({
      payTo: z.string(),
      chain: z
        .string()
        .optional()
        .meta({ description: "Absent if the address's key signed, because that proof is valid on every chain." }),
      method: z.enum(["signature", "domain"]),
      sellerId: z.string(),
      provenAt: Timestamp,
    })
    .meta({ id: "PayToProof", description: "An address that the organization has proven to control." }),
  problems: [
    "not_found",
    "conflict",
    "storefront_unavailable",
    "storefront_invalid",
    "rpc_unavailable",
    "idempotency_in_flight",
    "idempotency_key_reused",
  ],
  example: {
    body: { method: "signature", challengeId: example.challengeId, signature: `0x${"1b".repeat(65)}` },
    response: { payTo: example.payTo.toLowerCase(), method: "signature", sellerId: example.sellerId, provenAt: example.at },
  },
});
