/** A platform admin sends the reason for a change in the metadata, because the request bodies have no field for it. */
export const reasonIn = (metadata: Readonly<Record<string, unknown>> | undefined): { readonly reason?: string } => {
  const reason = metadata?.["reason"];
  return typeof reason === "string" ? { reason: reason.slice(0, 500) } : {};
};
