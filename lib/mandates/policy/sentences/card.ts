import { fixed, sentence } from "#lib/mandates/policy/sentences/sentence.ts";

export const anyMerchant = fixed(112, "satisfied", "cards", "The policy admits cards at this merchant.", "/cards");
export const merchantCleared = fixed(113, "satisfied", "cards", "A person cleared this purchase.");
export const asksCards = fixed(
  114,
  "approval_required",
  "cards",
  "The policy names no merchants for cards, so a person clears each purchase.",
  "/cards",
);
export const asksMerchant = sentence(115, "approval_required", "cards", (_, list: string, value: string) => ({
  message: `The policy does not name ${value} among the ${list} of cards, so a person clears the purchase.`,
  pointer: `/cards/${list}`,
}));
export const needsClearance = fixed(
  116,
  "clearance_needed",
  "cards",
  "A card waits two seconds and no person can answer in them. A clearance by a person lets the same purchase pass once.",
);
