/**
 * A quote without a fee, for the examples in the API documentation. Browsers load this file too, so it imports no server code.
 */
export const feeQuoteExample = {
  feeQuoteId: "fq_01kaj4n7v8e2m0x3c9t5q6r7sd",
  feeScheduleId: "fs_default",
  buyerOrganizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s1",
  sellerOrganizationId: "org_01kaj4n7v8e2m0x3c9t5q6r7s2",
  settlementMode: "offchainAuthorized",
  enforcementPath: "offchain",
  paymentProtocol: "x402",
  paymentChallengeType: "x402",
  chain: "eip155:84532",
  asset: "USDC",
  grossAmount: "0.25",
  sellerNetAmount: "0.25",
  serviceFeeAmount: "0",
  providerFeeAmount: "0",
  networkFeeAmount: "0",
  feePayer: "buyer",
  feeRecipient: "service",
  feeScheduleHash: "2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae",
  expiresAt: "2026-11-21T12:10:00.000Z",
  createdAt: "2026-11-21T12:00:00.000Z",
} as const;
