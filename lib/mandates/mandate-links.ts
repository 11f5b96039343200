import type { NextAction } from "#lib/problem.ts";

export const mandatePage = (baseUrl: string, mandateId: string): string => `${baseUrl}/mandates/${mandateId}`;

/** Without `mandateId`, only the actions that create or select a mandate get a page. */
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
