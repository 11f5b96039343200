import { reaches } from "#lib/mandates/policy/assurance.ts";
import { addReason, type Case } from "#lib/mandates/policy/rules/reason.ts";
import * as say from "#lib/mandates/policy/sentences/mandate.ts";
import { toWire } from "#lib/time.ts";
import type { AssuranceLevel } from "#lib/vocabulary.ts";

export function mandateRules(on: Case): void {
  status(on);
  validity(on);
  agent(on);
  assurance(on);
}

function status(on: Case): void {
  addReason(on, { draft: say.draft, suspended: say.suspended, revoked: say.revoked, active: say.active }[on.mandate.status]);
}

export function validity(on: Case): void {
  const { validFrom, validUntil } = on.policy;
  const at = on.now.getTime();
  const early = validFrom !== null && at < validFrom.getTime();
  const late = validUntil !== null && at >= validUntil.getTime();
  if (early) addReason(on, say.notYetValid, toWire(validFrom));
  if (late) addReason(on, say.expired, toWire(validUntil));
  if (validFrom !== null && !early) addReason(on, say.begun);
  if (validUntil !== null && !late) addReason(on, say.validUntil, toWire(validUntil));
}

export function agent(on: Case): void {
  const { agents } = on.mandate;
  const { subjectId, type, active } = on.intent.agent;
  if (agents === null) addReason(on, say.everyAgent);
  else addReason(on, type === "serviceAccount" && agents.includes(subjectId) ? say.namedAgent : say.otherAgent);
  if (!active) addReason(on, say.inactiveAgent);
}

type Demand = { readonly who: "policy" | "seller" | "resource"; readonly level: AssuranceLevel };

const demandsOf = ({ intent, policy }: Case): readonly Demand[] =>
  (
    [
      ["policy", policy.minimumAssuranceLevel],
      ["seller", intent.seller?.minimumAssuranceLevel],
      ["resource", intent.resource?.minimumAssuranceLevel],
    ] as const
  ).flatMap(([who, level]) => (level === null || level === undefined ? [] : [{ who, level }]));

/** False after a person has approved, and if the level is reached or is above a passkey. */
const passkeyWouldDo = ({ intent }: Case, level: AssuranceLevel): boolean =>
  intent.approvedByPerson !== true && !reaches(intent.assuranceLevel, level) && reaches("passkeyApproved", level);

function assurance(on: Case): void {
  const reached = on.intent.assuranceLevel;
  for (const { who, level } of demandsOf(on)) {
    if (reaches(reached, level)) addReason(on, say.levelReached, who, level);
    else if (!passkeyWouldDo(on, level)) addReason(on, say.levelTooLow, who, level, reached);
  }
}

export const passkeyDemands = (on: Case): readonly Demand[] => demandsOf(on).filter(({ level }) => passkeyWouldDo(on, level));
