"use client";

import { Button } from "#components/ui/button.tsx";
import { useOperation } from "#components/ui/operation.ts";
import { ProblemNotice } from "#components/ui/problem.tsx";
import { completeOnboarding } from "./calls.ts";

type Props = { readonly invitationToken: string; readonly organizationName: string; readonly returnTo: string };

export function AcceptInvitation({ invitationToken, organizationName, returnTo }: Props) {
  const join = useOperation(completeOnboarding, {
    done: ({ session }) => {
      const home = session.productRoles.includes("buyer") ? "/home" : "/seller";
      location.assign(returnTo === "/" ? home : returnTo);
    },
    refresh: "never",
    once: true,
  });
  // The schema requires a name and roles, but the service ignores them here: the organization already has its own.
  const body = { organizationName, productRoles: ["buyer" as const], invitationToken };
  return (
    <>
      <ProblemNotice error={join.error} nothing="You did not join." />
      <Button tone="primary" size="large" disabled={join.busy} onClick={() => join.send({ body })}>
        Accept and join
      </Button>
    </>
  );
}
