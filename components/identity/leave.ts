import { useMutation } from "@tanstack/react-query";
import { requestAuth } from "./auth-request.ts";
import { announce } from "#components/ui/announcements.tsx";
import { mutation } from "#lib/http/query.ts";
import { activateOrganization } from "#lib/identity/contract.ts";

/* Both end with a whole new page: nothing of whom or what one leaves stays in memory. */

/** Ends this session. */
export const useSignOut = () =>
  useMutation({
    mutationFn: () => requestAuth("sign-out", {}),
    onSuccess: () => location.assign("/sign-in"),
    onError: (error) => announce(error.message),
  });

/** Changes the organization that this session acts for. */
export const useActivateOrganization = () =>
  useMutation({
    ...mutation(activateOrganization),
    onSuccess: () => location.assign("/"),
    onError: (error) => announce(error.message),
  });
