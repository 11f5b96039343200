import { deny, satisfy, type Case } from "#lib/mandates/reason.ts";
import { AssuranceLevel } from "#lib/vocabulary.ts";

/** The mandate's life cycle and who may use it. */
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

function validity(on: Case): void {
  const { validFrom, validUntil } = on.policy;
  const at = on.now.getTime();
  const early = validFrom !== null && at < validFrom.getTime();
  const late = validUntil !== null && at >= validUntil.getTime();
  if (early)
    deny(on, "mandate_not_yet_valid", "validFrom", `This mandate is valid from ${validFrom.toISOString()} on.`, {
      pointer: "/validFrom",
    });
  if (late)
    deny(on, "mandate_expired", "validUntil", `This mandate expired at ${validUntil.toISOString()}.`, { pointer: "/validUntil" });
  if (validFrom !== null && !early) satisfy(on, "validFrom", "The mandate's validity has begun.", { pointer: "/validFrom" });
  if (validUntil !== null && !late)
    satisfy(on, "validUntil", `The mandate is valid until ${validUntil.toISOString()}.`, { pointer: "/validUntil" });
}

function agent(on: Case): void {
  const { agents } = on.mandate;
  const { subjectId, type, active } = on.intent.agent;
  if (agents === null) satisfy(on, "agents", "The mandate may be used by everyone in the organization.");
  else if (type === "serviceAccount" && agents.includes(subjectId))
    satisfy(on, "agents", "The agent is one of the mandate's agents.");
  else deny(on, "agent_not_bound", "agents", "This mandate is bound to certain agents, and the caller is none of them.");
  if (!active) deny(on, "agent_inactive", "agent", "The agent is no longer active.");
}

const rank = new Map<string, number>(AssuranceLevel.options.map((level, index) => [level, index]));
/** A level that is not in the list is above every other: it cannot be reached. */
const rankOf = (level: AssuranceLevel): number => rank.get(level) ?? rank.size;

function assurance(on: Case): void {
  const { intent, policy } = on;
  demand(on, "policy", policy.minimumAssuranceLevel, "/minimumAssuranceLevel");
  demand(on, "seller", intent.seller?.minimumAssuranceLevel);
  demand(on, "resource", intent.resource?.minimumAssuranceLevel);
}

function demand(
  on: Case,
  who: "policy" | "seller" | "resource",
  level: AssuranceLevel | null | undefined,
  pointer?: string,
): void {
  if (level === null || level === undefined) return;
  const details = pointer === undefined ? {} : { pointer };
  const reached = on.intent.assuranceLevel;
  if (rankOf(level) <= (rank.get(reached) ?? -1))
    satisfy(on, "minimumAssuranceLevel", `The ${who} asks for ${level}, which is reached.`, details);
  else
    deny(
      on,
      "assurance_too_low",
      "minimumAssuranceLevel",
      `The ${who} asks for ${level}, and this payment reaches ${reached} at most.`,
      details,
    );
}
