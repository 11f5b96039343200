import { useOperation } from "#components/ui/operation.ts";
import { requestAuth } from "./auth-request.ts";
import { announce } from "#components/ui/announcements.tsx";
import { atAddress } from "#lib/http/client.ts";
import type * as contract from "#lib/identity/sessions/contract.ts";

const activateOrganization = atAddress<typeof contract.activateOrganization>({
  id: "activateOrganization",
  method: "POST",
  path: "/api/v1/auth/organizations/{organizationId}/activate",
});

/* Both hooks load a whole new page, which contains no data of the previous session or organization. */

export const useSignOut = () =>
  useOperation(() => requestAuth("sign-out", {}), {
    done: () => location.assign("/sign-in"),
    failed: (error) => announce(error.message),
    refresh: "never",
  });

export const useActivateOrganization = (path = "/") =>
  useOperation(activateOrganization, {
    done: () => location.assign(path),
    failed: (error) => announce(error.message),
    refresh: "never",
  });
