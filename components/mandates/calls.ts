import { atAddress } from "#lib/http/client.ts";
import type * as alerts from "#lib/alerts/contract.ts";
import type * as mandates from "#lib/mandates/contract.ts";

export const activateMandate = atAddress<typeof mandates.activateMandate>({
  id: "activateMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/activate",
});

export const resumeMandate = atAddress<typeof mandates.resumeMandate>({
  id: "resumeMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/resume",
});

export const revokeMandate = atAddress<typeof mandates.revokeMandate>({
  id: "revokeMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/revoke",
});

export const setMandateAlerts = atAddress<typeof alerts.setMandateAlerts>({
  id: "setMandateAlerts",
  method: "POST",
  path: "/api/v1/mandates/{id}/alerts",
});

export const suspendMandate = atAddress<typeof mandates.suspendMandate>({
  id: "suspendMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/suspend",
});

export const createMandate = atAddress<typeof mandates.createMandate>({
  id: "createMandate",
  method: "POST",
  path: "/api/v1/mandates",
});

export const updateMandate = atAddress<typeof mandates.updateMandate>({
  id: "updateMandate",
  method: "PATCH",
  path: "/api/v1/mandates/{id}",
});

export const simulateMandate = atAddress<typeof mandates.simulateMandate>({
  id: "simulateMandate",
  method: "POST",
  path: "/api/v1/mandates/{id}/simulate",
});
