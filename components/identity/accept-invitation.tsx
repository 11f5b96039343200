"use client";

import { useMutation } from "@tanstack/react-query";
import { Button } from "#components/ui/button.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { mutation } from "#lib/http/query.ts";
import { completeOnboarding } from "./calls.ts";

type Props = { readonly invitationToken: string; readonly organizationName: string; readonly returnTo: string };

export function AcceptInvitation({ invitationToken, organizationName, returnTo }: Props) {
  const join = useMutation({
    ...mutation(completeOnboarding),
    onSuccess: ({ session }) => {
      const home = session.productRoles.includes("buyer") ? "/home" : "/seller";
      location.assign(returnTo === "/" ? home : returnTo);
    },
  });
  // The schema requires a name and roles, but the service ignores them here: the organization already has its own.
  const body = { organizationName, productRoles: ["buyer" as const], invitationToken };
  return (
    <>
      {join.error && <ProblemNotice error={join.error} nothing="You did not join." />}
      <Button tone="primary" size="large" disabled={join.isPending || join.isSuccess} onClick={() => join.mutate({ body })}>
        Accept and join
      </Button>
    </>
  );
}
