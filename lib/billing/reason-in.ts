/**
 * Why a platform admin made a change. These bodies have no field for it, so the reason is sent in the metadata and written to the audit
 * event.
 */
export const reasonIn = (metadata: Readonly<Record<string, unknown>> | undefined): { readonly reason?: string } => {
  const reason = metadata?.["reason"];
  return typeof reason === "string" ? { reason: reason.slice(0, 500) } : {};
};
