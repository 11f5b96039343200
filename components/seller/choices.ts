import type { AssuranceLevel, ResourceSettlementMode } from "#lib/vocabulary.ts";

/** The assurance levels for approvals that the service can check today, weakest first. */
export const assuranceOptions = [
  ["softwareApproved", "Signed-in session"],
  ["passkeyApproved", "Passkey"],
] as const satisfies readonly (readonly [AssuranceLevel, string])[];

export const settlementOptions = [
  ["offchainAuthorized", "Your server"],
  ["facilitatorSettled", "This service"],
] as const satisfies readonly (readonly [ResourceSettlementMode, string])[];

export const methodOptions = (["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD"] as const).map(
  (method) => [method, method] as const,
);

export const pricingOptions = [
  ["fixed", "Fixed price per call"],
  ["quoted", "Quoted by each 402"],
] as const;
