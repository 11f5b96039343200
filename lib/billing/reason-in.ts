/**
 * Reads the reason that a platform admin gave for a change. The request bodies have no field for a reason, so it is sent in the
 * metadata and stored in the audit event.
 */
export const reasonIn = (metadata: Readonly<Record<string, unknown>> | undefined): { readonly reason?: string } => {
  const reason = metadata?.["reason"];
  return typeof reason === "string" ? { reason: reason.slice(0, 500) } : {};
};
