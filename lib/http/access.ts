import type { Access, Caller } from "#lib/http/operation.ts";
import { commonActions } from "#lib/next-actions.ts";
import { Problem } from "#lib/problem.ts";

export const lacksCapability = (capability: string): Problem =>
  new Problem("capability_required", {
    detail: `This needs the capability ${capability}, which the caller does not have in this organization.`,
    nextActions: [
      {
        type: "request_capability",
        label: "Ask for the capability",
        description: `Ask an owner or admin of the organization for ${capability}.`,
        metadata: { capability },
      },
    ],
  });

export const agentPaused = (): Problem =>
  new Problem("agent_paused", {
    detail: "A person of the organization paused this agent. It can still read. Wait until somebody resumes it.",
    nextActions: [commonActions.retryLater],
  });

const isPaused = (caller: Caller | null): boolean => caller?.kind === "key" && caller.paused === true;

const noOrganization = (): Problem =>
  new Problem("capability_required", {
    detail: "No organization is active in this session. Complete the onboarding or activate one.",
    nextActions: [{ type: "switch_organization", label: "Choose an organization" }],
  });

const personsOnly = (): Problem =>
  new Problem("forbidden", { detail: "Only a person who is signed in may do this; API keys may not." });

const anonymous = (): Problem =>
  new Problem("unauthenticated", {
    detail: "Send an API key as a bearer token, or sign in.",
    nextActions: [{ type: "sign_in", label: "Sign in" }],
  });

type Check = (caller: Caller | null) => void;

const requireCaller: Check = (caller) => {
  if (!caller) throw anonymous();
};

const requirePerson: Check = (caller) => {
  requireCaller(caller);
  if (caller?.kind !== "session") throw personsOnly();
};

/** The returned function throws Problem unauthenticated, forbidden, agent_paused or capability_required. */
export function compileAccess(access: Access): Check {
  if (access === "anyone" || access === "signature") return () => {};
  if (access === "authenticated") return requireCaller;
  if (access === "session") return requirePerson;
  if ("platformCapability" in access) {
    return (caller) => {
      requirePerson(caller);
      if (caller?.kind === "session" && !caller.platformCapabilities.has(access.platformCapability)) {
        throw lacksCapability(access.platformCapability);
      }
    };
  }
  const person = "sessionCapability" in access;
  const [capability, other] = person ? [access.sessionCapability] : [access.capability, access.orCapability];
  return (caller) => {
    (person ? requirePerson : requireCaller)(caller);
    if (caller?.organizationId === null) throw noOrganization();
    if (caller?.capabilities.has(capability) || (other && caller?.capabilities.has(other))) return;
    throw isPaused(caller) ? agentPaused() : lacksCapability(capability);
  };
}
