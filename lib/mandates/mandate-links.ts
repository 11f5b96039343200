import type { NextAction } from "#lib/problem.ts";

/** The URL of a mandate's page. `baseUrl` is the address of this service's pages. */
export const mandatePage = (baseUrl: string, mandateId: string): string => `${baseUrl}/mandates/${mandateId}`;

/**
 * Adds to each action about mandates the page where a person can do it; without `mandateId`, only to those that create or
 * select a mandate. Other actions are unchanged.
 */
export const withMandatePages = (actions: readonly NextAction[], baseUrl: string, mandateId?: string): NextAction[] =>
  actions.map((action) => {
    const href = pageOf(action.type, baseUrl, mandateId);
    return href === null ? action : { ...action, href };
  });

function pageOf(type: NextAction["type"], baseUrl: string, mandateId: string | undefined): string | null {
  if (type === "create_mandate") return `${baseUrl}/mandates/new`;
  if (type === "select_mandate") return `${baseUrl}/mandates`;
  if (mandateId === undefined) return null;
  if (type === "resume_mandate" || type === "register_mandate_onchain" || type === "delegate_wallet")
    return mandatePage(baseUrl, mandateId);
  if (type === "raise_mandate_limit" || type === "renew_mandate" || type === "connect_wallet")
    return `${mandatePage(baseUrl, mandateId)}/edit`;
  return null;
}
