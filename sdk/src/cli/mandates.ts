import { connect } from "../service.ts";

const TRIED_MANDATES = 100;

type Access = { readonly url: string; readonly apiKey: string; readonly serviceAccountId?: string };
export type Choice = { readonly mandateId: string; readonly name: string };

/**
 * Of the first 100 mandates, the active ones under which the service account may pay, or without `serviceAccountId` all active
 * ones. Empty if the mandates cannot be read.
 */
export async function mandatesOf({ url, apiKey, serviceAccountId }: Access): Promise<readonly Choice[]> {
  const { api } = connect({ url, apiKey });
  const { items } = await api.listMandates({ query: { limit: TRIED_MANDATES } }).catch(() => ({ items: [] }));
  const mayUse = (agents: readonly string[] | undefined): boolean =>
    agents === undefined || serviceAccountId === undefined || agents.includes(serviceAccountId);
  const usable = items.filter(({ status, agents }) => status === "active" && mayUse(agents));
  return usable.map(({ mandateId, name }) => ({ mandateId, name }));
}

export function chooseMandate(mandates: readonly Choice[]): string {
  if (mandates.length === 0) return "Set COUNTERSIGN_MANDATE to the id of the mandate that pays.";
  const lines = mandates.map(({ mandateId, name }) => `  ${mandateId} ${name}`);
  return ["Set COUNTERSIGN_MANDATE to the id of the mandate that pays:", ...lines].join("\n");
}
