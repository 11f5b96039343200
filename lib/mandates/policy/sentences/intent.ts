import { displayText } from "#lib/money.ts";
import { fixed, sentence } from "#lib/mandates/policy/sentences/sentence.ts";

export const intentValid = sentence(16, "satisfied", "intent.expiresAt", (_, until: string) => ({
  message: `The intent is valid until ${until}.`,
}));
export const intentExpired = fixed(17, "intent_expired", "intent.expiresAt", "The intent has expired. Make a new one.");
export const notPositive = fixed(18, "intent_invalid", "intent.amount", "The amount of a payment must be above zero.");
export const differsFromChallenge = sentence(
  19,
  "challenge_mismatch",
  "intent.registration",
  (_, field: string, pointer: string) => ({
    message: `The ${field} of the intent differs from what the seller's challenge says.`,
    pointer,
  }),
);
export const differsFromRecord = sentence(
  20,
  "challenge_mismatch",
  "intent.registration",
  (_, field: string, pointer: string) => ({
    message: `The ${field} of the intent differs from what the seller registered.`,
    pointer,
  }),
);
export const challengeDiffers = sentence(
  21,
  "challenge_mismatch",
  "intent.registration",
  (_, field: string, pointer: string, theirs: string, registered: string) => ({
    message: `The seller's challenge asks for the ${field} ${theirs}. Registered is ${registered}.`,
    pointer,
  }),
);
export const tooSmallToSettle = sentence(89, "challenge_mismatch", "intent.amount", (_, least: string) => ({
  message: `This service settles the seller's payments from ${least} on, and this one is smaller. Ask the seller to charge for more at once.`,
  pointer: "/intent/amount",
}));
/** Only in decisions of earlier releases, as are all whose name ends with Before. */
export const asChallengedBefore = fixed(
  22,
  "satisfied",
  "intent.registration",
  "The intent is what the seller's challenge asks for.",
);
export const asChallenged = fixed(
  95,
  "satisfied",
  "intent.registration",
  "Price, address and token are what the seller asks for.",
);
export const asRegisteredBefore = fixed(23, "satisfied", "intent.registration", "The intent is what the seller registered.");
export const asRegistered = fixed(
  96,
  "satisfied",
  "intent.registration",
  "Price, address and token are what the seller registered.",
);
export const declined = fixed(
  24,
  "approval_rejected",
  "approval",
  "A person declined this basket under this mandate within the last hour.",
  "/approval",
);
export const unanswered = fixed(
  81,
  "approval_rejected",
  "approval",
  "People were asked twice about this basket, and nobody answered. Ask again in an hour, or say in metadata.purpose what it is for.",
  "/approval",
);
export const intentIdUsed = fixed(
  25,
  "intent_invalid",
  "intent.intentId",
  "This intentId was used before under this mandate. Make a new intent.",
);
export const nonceUsed = fixed(
  26,
  "nonce_reused",
  "intent.nonce",
  "This nonce was used before under this mandate. Choose a new one.",
);
export const intentNewBefore = fixed(27, "satisfied", "intent.intentId", "The intent is new under this mandate.");
export const intentNew = fixed(91, "satisfied", "intent.intentId", "This is a new request, not one that was decided before.");
export const paysIn = sentence(28, "satisfied", "assets", ({ unit }, chain: string) => ({
  message: `The mandate pays in ${unit} on ${chain}.`,
  pointer: "/assets/0",
}));
export const otherAssetBefore = sentence(29, "asset_not_allowed", "assets", ({ unit }) => ({
  message: `This mandate pays in ${unit} alone.`,
  pointer: "/assets/0/asset",
}));
export const otherAsset = sentence(92, "asset_not_allowed", "assets", ({ unit }) => ({
  message: `This mandate only pays in ${unit}.`,
  pointer: "/assets/0/asset",
}));
export const otherChainBefore = sentence(30, "chain_not_allowed", "assets", (_, chain: string) => ({
  message: `This mandate pays on ${chain} alone.`,
  pointer: "/assets/0/chain",
}));
export const otherChain = sentence(93, "chain_not_allowed", "assets", (_, chain: string) => ({
  message: `This mandate only pays on the network ${chain}.`,
  pointer: "/assets/0/chain",
}));
/** `charge` is in the asset, `rate` is what one whole asset counts as in the unit, and `at` is the place in the list of assets. */
export const countsAs = sentence(
  101,
  "satisfied",
  "assets",
  ({ unit, requested }, charge: string, asset: string, chain: string, rate: string, at: number) => ({
    message: `${displayText(charge, asset)} on ${chain} count as ${displayText(requested, unit)}: 1 ${asset} counts as ${rate} ${unit}.`,
    pointer: `/assets/${at}`,
  }),
);
export const notInAsset = sentence(102, "asset_not_allowed", "assets", (_, asset: string) => ({
  message: `This mandate does not pay in ${asset}.`,
  pointer: "/assets",
}));
export const notOnChain = sentence(103, "chain_not_allowed", "assets", (_, asset: string, chain: string) => ({
  message: `This mandate does not pay in ${asset} on the network ${chain}.`,
  pointer: "/assets",
}));
const railWords: Readonly<Record<string, string>> = {
  x402: "payments by x402",
  record: "payments that are made elsewhere and recorded here",
  card: "payments by card",
};
export const railRefused = sentence(104, "protocol_not_allowed", "rails", (_, rail: string) => ({
  message: `This mandate does not admit ${railWords[rail] ?? rail}.`,
  pointer: "/rails",
}));
export const railAdmitted = sentence(105, "satisfied", "rails", (_, rail: string) => ({
  message: `This mandate admits ${railWords[rail] ?? rail}.`,
  pointer: "/rails",
}));
export const challengeAccepted = fixed(31, "satisfied", "protocol", "The resource accepts this kind of challenge.");
export const challengeRefused = fixed(
  32,
  "protocol_not_allowed",
  "protocol",
  "The resource does not accept this kind of payment challenge.",
);
