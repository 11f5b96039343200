"use client";

import { announce } from "#components/ui/announcements.tsx";
import { ConfirmDialog } from "#components/ui/confirm-dialog.tsx";
import { call } from "#lib/http/client.ts";
import { endConnection, removeAgentClient } from "./calls.ts";

type Props = {
  readonly name: string;
  readonly verb: string;
  readonly title: string;
  readonly effect: string;
  readonly done: string;
  readonly act: () => Promise<unknown>;
};

const EndDialog = ({ name, verb, title, effect, done, act }: Props) => (
  <ConfirmDialog
    trigger={
      <>
        {verb}
        <span className="sr"> {name}</span>
      </>
    }
    look={{ tone: "warn", size: "small" }}
    title={title}
    action={title}
    nothing="Nothing was ended."
    act={act}
    done={() => announce(done)}
  >
    <p className="text-sm">{effect}</p>
  </ConfirmDialog>
);

export const EndConnection = ({ connectionId, name }: { readonly connectionId: string; readonly name: string }) => (
  <EndDialog
    name={name}
    verb="End"
    title="End connection"
    effect="The program is refused from its next request on. The service account, its keys and its payments stay. To use it again, somebody must connect the program again."
    done="The connection has ended"
    act={() => call(endConnection, { connectionId, body: {} })}
  />
);

export const RemoveClient = ({ clientId, name }: { readonly clientId: string; readonly name: string }) => (
  <EndDialog
    name={name}
    verb="Remove"
    title="Remove program"
    effect="All its connections end, and nobody can connect it any more. Service accounts stay."
    done="The program is removed"
    act={() => call(removeAgentClient, { clientId, body: {} })}
  />
);
