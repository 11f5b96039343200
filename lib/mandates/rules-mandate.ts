import { reaches } from "#lib/mandates/assurance.ts";
import { deny, satisfy, type Case } from "#lib/mandates/reason.ts";
import { toWire } from "#lib/time.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

/** Checks the mandate's status and validity, and which agents may use it. */
export function mandateRules(on: Case): void {
  status(on);
  validity(on);
  agent(on);
  assurance(on);
}

function status(on: Case): void {
  switch (on.mandate.status) {
    case "draft":
      return deny(on, "mandate_not_active", "status", "This mandate is a draft. A person must activate it first.");
    case "suspended":
      return deny(on, "mandate_suspended", "status", "This mandate is suspended. A person must resume it first.");
    case "revoked":
      return deny(on, "mandate_revoked", "status", "This mandate was revoked.");
    case "active":
      return satisfy(on, "status", "The mandate is active.");
  }
}

export function validity(on: Case): void {
  const { validFrom, validUntil } = on.policy;
  const at = on.now.getTime();
  const early = validFrom !== null && at < validFrom.getTime();
  const late = validUntil !== null && at >= validUntil.getTime();
  if (early)
    deny(on, "mandate_not_yet_valid", "validFrom", `This mandate is valid from ${toWire(validFrom)} on.`, {
      pointer: "/validFrom",
    });
  if (late)
    deny(on, "mandate_expired", "validUntil", `This mandate expired at ${toWire(validUntil)}.`, { pointer: "/validUntil" });
  if (validFrom !== null && !early) satisfy(on, "validFrom", "The mandate's validity has begun.", { pointer: "/validFrom" });
  if (validUntil !== null && !late)
    satisfy(on, "validUntil", `The mandate is valid until ${toWire(validUntil)}.`, { pointer: "/validUntil" });
}

export function agent(on: Case): void {
  const { agents } = on.mandate;
  const { subjectId, type, active } = on.intent.agent;
  if (agents === null) satisfy(on, "agents", "The mandate may be used by everyone in the organization.");
  else if (type === "serviceAccount" && agents.includes(subjectId))
    satisfy(on, "agents", "The agent is one of the mandate's agents.");
  else deny(on, "agent_not_bound", "agents", "This agent may not use this mandate.");
  if (!active) deny(on, "agent_inactive", "agent", "The agent is no longer active.");
}

type Demand = {
  readonly who: "policy" | "seller" | "resource";
  readonly level: AssuranceLevel;
  readonly details: { readonly pointer?: string };
};

const demandsOf = ({ intent, policy }: Case): readonly Demand[] =>
  (
    [
      ["policy", policy.minimumAssuranceLevel, { pointer: "/minimumAssuranceLevel" }],
      ["seller", intent.seller?.minimumAssuranceLevel, {}],
      ["resource", intent.resource?.minimumAssuranceLevel, {}],
    ] as const
  ).flatMap(([who, level, details]) => (level === null || level === undefined ? [] : [{ who, level, details }]));

/** Whether no person has approved yet, and approval with a passkey would reach the level. */
const passkeyWouldDo = ({ intent }: Case, level: AssuranceLevel): boolean =>
  intent.approvedByPerson !== true && !reaches(intent.assuranceLevel, level) && reaches("passkeyApproved", level);

function assurance(on: Case): void {
  const reached = on.intent.assuranceLevel;
  for (const { who, level, details } of demandsOf(on)) {
    if (reaches(reached, level)) satisfy(on, "minimumAssuranceLevel", `The ${who} asks for ${level}, which is reached.`, details);
    else if (!passkeyWouldDo(on, level))
      deny(
        on,
        "assurance_too_low",
        "minimumAssuranceLevel",
        `The ${who} asks for ${level}, and this payment reaches ${reached}.`,
        details,
      );
  }
}

/** The demands for a passkey, which only a person's approval can satisfy. */
export const passkeyDemands = (on: Case): readonly Demand[] => demandsOf(on).filter(({ level }) => passkeyWouldDo(on, level));
