/** Why a platform admin did it: these bodies have no field for it, so it travels in the metadata and stands in the audit event. */
export const reasonIn = (metadata: Readonly<Record<string, unknown>> | undefined): { readonly reason?: string } => {
  const reason = metadata?.["reason"];
  return typeof reason === "string" ? { reason: reason.slice(0, 500) } : {};
};
