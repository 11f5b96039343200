import { atAddress } from "#lib/http/client.ts";
import type * as sellers from "#lib/sellers/contract.ts";
import type * as payToContract from "#lib/sellers/pay-to/contract.ts";

export const archiveResource = atAddress<typeof sellers.archiveResource>({
  id: "archiveResource",
  method: "POST",
  path: "/api/v1/seller/resources/{id}/archive",
});

export const challengePayTo = atAddress<typeof payToContract.challengePayTo>({
  id: "challengePayTo",
  method: "POST",
  path: "/api/v1/seller/pay-to/challenges",
});

export const provePayTo = atAddress<typeof payToContract.provePayTo>({
  id: "provePayTo",
  method: "POST",
  path: "/api/v1/seller/pay-to/proofs",
});

export const upsertPaidResource = atAddress<typeof sellers.upsertPaidResource>({
  id: "upsertPaidResource",
  method: "PUT",
  path: "/api/v1/seller/resources/{id}",
});

export const verifySellerDomain = atAddress<typeof sellers.verifySellerDomain>({
  id: "verifySellerDomain",
  method: "POST",
  path: "/api/v1/sellers/{id}/verify-domain",
});

export const getResource = atAddress<typeof sellers.getResource>({
  id: "getResource",
  method: "GET",
  path: "/api/v1/seller/resources/{id}",
});
