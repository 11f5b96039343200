import { z } from "zod";
import { Why } from "#lib/audit-event.ts";
import { operation } from "#lib/http/operation.ts";
import { Seller } from "#lib/sellers/resource-schema.ts";

const seller: Seller = {
  sellerId: "sel_01kaj4n7v8e2m0x3c9t5q6r7s9",
  name: "Example Data",
  domain: "data.example.com",
  verified: true,
  minimumAssuranceLevel: "softwareApproved",
};

export const verifySeller = operation({
  id: "verifySeller",
  method: "POST",
  path: "/api/v1/platform/sellers/{id}/verify",
  tag: "Platform",
  summary: "Verify a seller, or take its verification back",
  description:
    "In place of the seller's own proof. A domain is verified for only one organization. Mandates that ask for verified sellers see the change with the next payment.",
  access: { platformCapability: "platform.sellers.verify" },
  body: z.strictObject({ verified: z.boolean(), reason: Why }).meta({ id: "VerifySeller" }),
  response: Seller,
  problems: ["forbidden", "not_found", "conflict", "idempotency_in_flight", "idempotency_key_reused"],
  example: { params: { id: seller.sellerId }, body: { verified: true, reason: "Papers seen, ticket 51" }, response: seller },
});
