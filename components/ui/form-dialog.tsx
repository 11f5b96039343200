"use client";

import { type ReactNode, useId } from "react";
import type { FieldValues } from "react-hook-form";
import { Dialog, DialogClose, type DialogProps } from "./dialog.tsx";
import { OperationForm, type OperationFormState, Submit } from "./form.tsx";

type Props<V extends FieldValues> = Pick<DialogProps, "trigger" | "look" | "title" | "description" | "wide" | "children"> & {
  readonly state: OperationFormState<V>;
  readonly nothing: string;
  readonly submit: ReactNode;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
};

/** The caller closes the dialog when the operation is done. */
export function FormDialog<V extends FieldValues>({ state, nothing, submit, open, onOpenChange, children, ...dialog }: Props<V>) {
  const id = useId();
  const change = (next: boolean) => {
    if (next) state.reset();
    onOpenChange(next);
  };
  const footer = (
    <>
      <DialogClose>Cancel</DialogClose>
      <Submit state={state} form={id}>
        {submit}
      </Submit>
    </>
  );
  return (
    <Dialog {...dialog} open={open} onOpenChange={change} footer={footer}>
      <OperationForm state={state} id={id} nothing={nothing}>
        {children}
      </OperationForm>
    </Dialog>
  );
}
