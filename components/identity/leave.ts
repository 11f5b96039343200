import { useMutation } from "@tanstack/react-query";
import { requestAuth } from "./auth-request.ts";
import { announce } from "#components/ui/announcements.tsx";
import { atAddress } from "#lib/http/client.ts";
import { mutation } from "#lib/http/query.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";

const activateOrganization = atAddress<typeof contract.activateOrganization>({
  id: "activateOrganization",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/activate",
});

/* Both hooks load a whole new page, which contains no data of the previous session or organization. */

export const useSignOut = () =>
  useMutation({
    mutationFn: () => requestAuth("sign-out", {}),
    onSuccess: () => location.assign("/sign-in"),
    onError: (error) => announce(error.message),
  });

export const useActivateOrganization = (path = "/") =>
  useMutation({
    ...mutation(activateOrganization),
    onSuccess: () => location.assign(path),
    onError: (error) => announce(error.message),
  });
