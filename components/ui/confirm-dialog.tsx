"use client";

import { type FormEvent, type ReactNode, useId, useState } from "react";
import { Button } from "./button.tsx";
import type { Look } from "./button-class.ts";
import { Dialog, DialogClose, type DialogProps } from "./dialog.tsx";
import { TextArea } from "./field.tsx";
import { formText } from "./form-text.ts";
import { type After, useOperation } from "./operation.ts";
import { ProblemNotice } from "./problem.tsx";

type Props<R, A> = Pick<DialogProps, "trigger" | "look" | "title" | "description"> &
  Omit<After<R, A>, "once"> & {
    readonly action: string;
    readonly children?: ReactNode;
    readonly tone?: Look["tone"];
    /** What did not happen if the service refuses the request: "Nothing was revoked." */
    readonly nothing: string;
  };

type ConfirmProps<R> = Props<R, FormData> & {
  /** Gets the fields among the children. */
  readonly act: (form: FormData) => Promise<R>;
};

export function ConfirmDialog<R>(props: ConfirmProps<R>) {
  const { action, tone = "danger", nothing, act, done, refresh, children, ...dialog } = props;
  const id = useId();
  const [open, setOpen] = useState(false);
  const { send, busy, error, reset } = useOperation(act, {
    done: (reply, sent) => {
      setOpen(false);
      return typeof done === "function" ? done(reply, sent) : done;
    },
    ...(refresh && { refresh }),
  });
  // The dialog stays open while the request runs, so that the person sees an error.
  const change = (next: boolean) => {
    if (busy) return;
    if (next) reset();
    setOpen(next);
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    send(new FormData(event.currentTarget));
  };
  const footer = (
    <>
      <DialogClose>Cancel</DialogClose>
      <Button {...(tone && { tone })} type="submit" form={id} aria-busy={busy}>
        {action}
      </Button>
    </>
  );
  return (
    <Dialog {...dialog} open={open} onOpenChange={change} footer={footer}>
      <form className="grid grid-cols-1 gap-5" id={id} method="post" onSubmit={submit}>
        {children}
        <ProblemNotice error={error} nothing={nothing} />
      </form>
    </Dialog>
  );
}

type ReasonProps<R> = Props<R, FormData> & {
  readonly act: (reason: string) => Promise<R>;
  readonly reasonHint?: string;
  readonly reasonRequired?: boolean;
  readonly reasonMin?: number;
};

export function ReasonDialog<R>({ act, children, reasonHint, reasonRequired = true, reasonMin, ...props }: ReasonProps<R>) {
  const hint =
    reasonMin === undefined
      ? "It is in the audit log."
      : `At least ${reasonMin} characters. It is in the audit log with your name.`;
  return (
    <ConfirmDialog {...props} act={(form) => act(formText(form, "reason").trim())}>
      <div className="text-sm">{children}</div>
      <TextArea
        label={reasonRequired ? "Reason" : "Reason (optional)"}
        name="reason"
        required={reasonRequired}
        maxLength={500}
        {...(reasonMin !== undefined && { minLength: reasonMin })}
        hint={reasonHint ?? hint}
      />
    </ConfirmDialog>
  );
}
