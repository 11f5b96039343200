import { fixed, sentence } from "#lib/mandates/policy/sentences/sentence.ts";

export const draft = fixed(1, "mandate_not_active", "status", "This mandate is a draft. A person must activate it first.");
export const suspended = fixed(2, "mandate_suspended", "status", "This mandate is suspended. A person must resume it first.");
export const revoked = fixed(3, "mandate_revoked", "status", "This mandate was revoked.");
export const active = fixed(4, "satisfied", "status", "The mandate is active.");

export const notYetValid = sentence(5, "mandate_not_yet_valid", "validFrom", (_, from: string) => ({
  message: `This mandate is valid from ${from} on.`,
  pointer: "/validFrom",
}));
export const expired = sentence(6, "mandate_expired", "validUntil", (_, until: string) => ({
  message: `This mandate expired at ${until}.`,
  pointer: "/validUntil",
}));
export const begunBefore = fixed(7, "satisfied", "validFrom", "The mandate's validity has begun.", "/validFrom");
export const begun = fixed(97, "satisfied", "validFrom", "The mandate is valid already.", "/validFrom");
export const validUntil = sentence(8, "satisfied", "validUntil", (_, until: string) => ({
  message: `The mandate is valid until ${until}.`,
  pointer: "/validUntil",
}));

export const everyAgent = fixed(9, "satisfied", "agents", "The mandate may be used by everyone in the organization.");
export const namedAgent = fixed(10, "satisfied", "agents", "The agent is one of the mandate's agents.");
export const otherAgent = fixed(11, "agent_not_bound", "agents", "This agent may not use this mandate.");
export const inactiveAgent = fixed(12, "agent_inactive", "agent", "The agent is no longer active.");

const demand = (who: string) => (who === "policy" ? { pointer: "/minimumAssuranceLevel" } : {});

/** Only in decisions of earlier releases. */
export const levelReachedBefore = sentence(13, "satisfied", "minimumAssuranceLevel", (_, who: string, level: string) => ({
  message: `The ${who} asks for ${level}, which is reached.`,
  ...demand(who),
}));
const confirmedWith: Readonly<Record<string, string>> = {
  passkeyApproved: "with a passkey",
  walletApproved: "with a wallet",
  hardwareApproved: "with a hardware key",
};
const confirmation = (level: string): string => confirmedWith[level] ?? `by ${level}`;
export const levelReached = sentence(94, "satisfied", "minimumAssuranceLevel", (_, who: string, level: string) => ({
  message:
    level === "softwareApproved"
      ? `The ${who} asks for no confirmation by a person.`
      : `A person confirmed this payment ${confirmation(level)}, as the ${who} asks.`,
  ...demand(who),
}));
/** Only in decisions of earlier releases. */
export const levelTooLowBefore = sentence(
  14,
  "assurance_too_low",
  "minimumAssuranceLevel",
  (_, who: string, level: string, reached: string) => ({
    message: `The ${who} asks for ${level}, and this payment reaches ${reached}.`,
    ...demand(who),
  }),
);
/** Only in decisions of earlier releases. */
export const passkeyNeededBefore = sentence(
  15,
  "approval_required",
  "minimumAssuranceLevel",
  (_, who: string, level: string) => ({
    message: `The ${who} asks for ${level}: a person approves this payment with a passkey.`,
    ...demand(who),
  }),
);
export const levelTooLow = sentence(
  99,
  "assurance_too_low",
  "minimumAssuranceLevel",
  (_, who: string, level: string, reached: string) => ({
    message: `The ${who} asks a person to confirm this payment ${confirmation(level)}. ${reached === "softwareApproved" ? "Nobody has" : `It was confirmed only ${confirmation(reached)}`}.`,
    ...demand(who),
  }),
);
export const passkeyNeeded = sentence(100, "approval_required", "minimumAssuranceLevel", (_, who: string) => ({
  message: `The ${who} asks a person to approve this payment with a passkey.`,
  ...demand(who),
}));
