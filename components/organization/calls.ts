import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/members/contract.ts";

export const cancelInvitation = atAddress<typeof contract.cancelInvitation>({
  id: "cancelInvitation",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/invitations/{id}/cancel",
});

export const inviteMember = atAddress<typeof contract.inviteMember>({
  id: "inviteMember",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/invitations",
});

export const removeMember = atAddress<typeof contract.removeMember>({
  id: "removeMember",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/members/{userId}/remove",
});

export const updateOrganization = atAddress<typeof contract.updateOrganization>({
  id: "updateOrganization",
  method: "PATCH",
  path: "/api/v1/auth/organizations/{organizationId}",
});
