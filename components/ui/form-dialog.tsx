"use client";

import { type ReactNode, useId, useState } from "react";
import type { FieldValues } from "react-hook-form";
import { Dialog, DialogClose, type DialogProps } from "./dialog.tsx";
import {
  OperationForm,
  type CheckedFormState,
  type Options,
  Submit,
  useOperationForm,
  type Values,
  type WithBody,
} from "./form.tsx";

type FormDialogState<V extends FieldValues> = {
  readonly state: CheckedFormState<V>;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
};

/** The form is reset when the dialog opens, and the dialog closes when the operation is done. */
export function useFormDialog<const O extends WithBody>(
  load: () => Promise<O>,
  { done, ...options }: Options<O>,
): FormDialogState<Values<O>> {
  const [open, setOpen] = useState(false);
  const state = useOperationForm<O>(load, {
    ...options,
    done: (reply, sent) => {
      setOpen(false);
      return typeof done === "function" ? done(reply, sent) : done;
    },
  });
  const onOpenChange = (next: boolean) => {
    if (next) state.reset();
    setOpen(next);
  };
  return { state, open, onOpenChange };
}

type Props<V extends FieldValues> = FormDialogState<V> &
  Pick<DialogProps, "trigger" | "look" | "title" | "description" | "wide" | "children"> & {
    readonly nothing: string;
    readonly submit: ReactNode;
  };

export function FormDialog<V extends FieldValues>({ state, nothing, submit, children, ...dialog }: Props<V>) {
  const id = useId();
  const footer = (
    <>
      <DialogClose>Cancel</DialogClose>
      <Submit state={state} form={id}>
        {submit}
      </Submit>
    </>
  );
  return (
    <Dialog {...dialog} footer={footer}>
      <OperationForm state={state} id={id} nothing={nothing}>
        {children}
      </OperationForm>
    </Dialog>
  );
}
