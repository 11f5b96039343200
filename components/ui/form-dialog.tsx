"use client";

import { type ReactNode, useId } from "react";
import type { FieldValues } from "react-hook-form";
import { Dialog, DialogClose, type DialogProps } from "./dialog.tsx";
import { OperationForm, type OperationFormState, Submit } from "./form.tsx";

type Props<V extends FieldValues> = Pick<DialogProps, "trigger" | "look" | "title" | "description" | "wide" | "children"> & {
  readonly state: OperationFormState<V>;
  /** What did not happen if the service refuses the request: "Nothing was saved." */
  readonly nothing: string;
  /** The text of the submit button. */
  readonly submit: ReactNode;
  readonly open: boolean;
  readonly onOpenChange: (open: boolean) => void;
};

/**
 * An operation's form in a dialog. The form is reset each time the person opens the dialog. The caller closes the dialog when
 * the operation is done.
 *
 *     const [open, setOpen] = useState(false);
 *     const state = useOperationForm(updateMember, { …, onDone: () => setOpen(false) });
 *     <FormDialog trigger="Change role" title="Role" state={state} open={open} onOpenChange={setOpen} submit="Change role" nothing="…">
 */
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
