"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { type FormEvent, type ReactNode, useId, useRef, useState } from "react";
import { Button } from "./button.tsx";
import { Dialog, DialogClose, type DialogProps } from "./dialog.tsx";
import { TextArea } from "./field.tsx";
import { formText } from "./form-text.ts";
import { ProblemNotice } from "./problem.tsx";

type Props = Pick<DialogProps, "trigger" | "look" | "title"> & {
  readonly children: ReactNode;
  readonly action: string;
  readonly act: (reason: string) => Promise<unknown>;
  /** What did not happen if the service refuses the request: "Nothing was revoked." */
  readonly nothing: string;
  readonly reasonHint?: string;
  readonly reasonRequired?: boolean;
  readonly reasonMin?: number;
  readonly onDone?: () => void;
};

type FormProps = Pick<Props, "children" | "nothing" | "reasonHint" | "reasonRequired" | "reasonMin"> & {
  readonly id: string;
  readonly error: Error | null;
  readonly send: (reason: string) => void;
};

function ReasonForm({ id, error, send, children, nothing, ...reason }: FormProps) {
  const { reasonRequired = true, reasonMin } = reason;
  const {
    reasonHint = reasonMin === undefined
      ? "It is in the audit log."
      : `At least ${reasonMin} characters. It is in the audit log with your name.`,
  } = reason;
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    send(formText(new FormData(event.currentTarget), "reason").trim());
  };
  return (
    <form className="grid grid-cols-1 gap-5" id={id} method="post" onSubmit={submit}>
      <div className="text-sm">{children}</div>
      <TextArea
        label={reasonRequired ? "Reason" : "Reason (optional)"}
        name="reason"
        required={reasonRequired}
        maxLength={500}
        {...(reasonMin !== undefined && { minLength: reasonMin })}
        hint={reasonHint}
      />
      {error && <ProblemNotice error={error} nothing={nothing} />}
    </form>
  );
}

export function ReasonDialog({ trigger, look, title, action, act, onDone, ...form }: Props) {
  const id = useId();
  const router = useRouter();
  const [open, setOpen] = useState(false);
  const sending = useRef(false);
  const acting = useMutation({
    mutationFn: act,
    onSuccess: () => {
      setOpen(false);
      router.refresh();
      onDone?.();
    },
    onSettled: () => {
      sending.current = false;
    },
  });
  // The dialog stays open while the request runs, so that the person sees an error.
  const change = (next: boolean) => {
    if (sending.current) return;
    if (next) acting.reset();
    setOpen(next);
  };
  const send = (reason: string) => {
    if (sending.current) return;
    sending.current = true;
    acting.mutate(reason);
  };
  return (
    <Dialog
      {...(trigger !== undefined && { trigger })}
      {...(look && { look })}
      title={title}
      open={open}
      onOpenChange={change}
      footer={
        <>
          <DialogClose>Cancel</DialogClose>
          <Button tone="danger" type="submit" form={id} aria-busy={acting.isPending}>
            {action}
          </Button>
        </>
      }
    >
      <ReasonForm {...form} id={id} error={acting.error} send={send} />
    </Dialog>
  );
}
