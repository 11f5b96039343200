"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Dialog, DialogClose } from "#components/ui/dialog.tsx";
import { ProblemNotice } from "#components/ui/problem.tsx";
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

function EndDialog({ name, verb, title, effect, done, act }: Props) {
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const ending = useMutation({
    mutationFn: act,
    onSuccess: () => {
      setOpen(false);
      announce(done);
      router.refresh();
    },
  });
  return (
    <Dialog
      trigger={
        <>
          {verb}
          <span className="sr"> {name}</span>
        </>
      }
      look={{ tone: "warn", size: "small" }}
      title={title}
      open={open}
      onOpenChange={setOpen}
      footer={
        <>
          <DialogClose>Cancel</DialogClose>
          <Button tone="danger" aria-busy={ending.isPending} onClick={() => ending.isPending || ending.mutate()}>
            {title}
          </Button>
        </>
      }
    >
      <p className="text-sm">{effect}</p>
      {ending.error && <ProblemNotice error={ending.error} nothing="Nothing was ended." />}
    </Dialog>
  );
}

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
