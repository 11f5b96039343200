"use client";

import { useActivateOrganization } from "#components/identity/leave.ts";
import { Sheet } from "#components/shell/sheet.tsx";
import { Button } from "#components/ui/button.tsx";
import { Untrusted } from "#components/ui/untrusted.tsx";

type Props = { readonly organizationId: string; readonly name: string; readonly path: string };

export function OtherOrganization({ organizationId, name, path }: Props) {
  const activate = useActivateOrganization(path);
  return (
    <Sheet>
      <div className="lapsed">
        <h1>This request is not of the organization that is active</h1>
        <p>
          The message was sent to you as a member of <Untrusted>{name}</Untrusted>. Switch to it to see the request.
        </p>
        <Button tone="primary" aria-busy={activate.busy} onClick={() => activate.send({ organizationId })}>
          Switch and open
        </Button>
      </div>
    </Sheet>
  );
}
