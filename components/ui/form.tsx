"use client";

import { useMutation } from "@tanstack/react-query";
import { type FormEvent, type ReactNode, useRef, useState } from "react";
import {
  type DefaultValues,
  type FieldValues,
  type Path,
  type RegisterOptions,
  type Resolver,
  useForm,
  type UseFormReturn,
} from "react-hook-form";
import type { z } from "zod";
import { call, ProblemError, type ReplyOf } from "#lib/http/client.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";
import { Button } from "./button.tsx";
import { useCheckedSubmit } from "./checked-submit.ts";
import { fieldOf, withoutBlanks } from "./field-words.ts";
import { early } from "./on-demand.tsx";
import { ProblemNotice } from "./problem.tsx";
import { Scripted } from "./scripted.tsx";

export type WithBody = Operation & { readonly body: z.ZodType<unknown, FieldValues> };
export type Values<O extends WithBody> = z.input<O["body"]>;
type Params<O extends WithBody> = Omit<RequestOf<O>, "body" | "query">;

export type Options<O extends WithBody> = {
  readonly defaults: DefaultValues<Values<O>>;
  readonly params?: Params<O> | ((values: Values<O>) => Params<O>);
  /** `sent` has the values that were sent. The form may have other values now, because the person can type meanwhile. */
  readonly onDone?: (reply: ReplyOf<O>, sent: Values<O>) => void;
};

type Registration<V extends FieldValues> = ReturnType<UseFormReturn<V>["register"]> & { readonly error: string | undefined };

export type OperationFormState<V extends FieldValues> = {
  readonly form: UseFormReturn<V>;
  /** Empty text means that the value is absent. */
  readonly field: (path: Path<V>, as?: RegisterOptions<V, Path<V>>) => Registration<V>;
  readonly submit: (event: FormEvent<HTMLFormElement>) => void;
  readonly early: ReturnType<typeof early>;
  readonly pending: boolean;
  /** An error that the fields cannot show, or can show only in part. */
  readonly error: Error | null;
  readonly reset: () => void;
};

const loadAll = <O extends WithBody>(load: () => Promise<O>) => Promise.all([load(), import("./check-body.ts")]);

const resolverOf =
  <O extends WithBody>(load: () => Promise<O>): Resolver<Values<O>> =>
  async (values, context, options) => {
    const [{ body }, { checkBody }] = await loadAll(load);
    return checkBody<Values<O>>(body)(values, context, options);
  };

const hasControl = (form: HTMLFormElement | null, path: string): boolean => (form?.elements.namedItem(path) ?? null) !== null;

/** Loads the operation when the person uses the form, because its schemas are large. */
export function useOperationForm<const O extends WithBody>(
  load: () => Promise<O>,
  options: Options<O>,
): OperationFormState<Values<O>> {
  const [resolver] = useState(() => resolverOf(load));
  const form = useForm<Values<O>>({ defaultValues: options.defaults, resolver });
  const element = useRef<HTMLFormElement>(null);
  const [error, setError] = useState<Error | null>(null);
  const send = useMutation({ mutationFn: async (request: RequestOf<O>) => call(await load(), request) });
  const refuse = (refusal: Error) => {
    const errors = refusal instanceof ProblemError ? (refusal.problem.errors ?? []) : [];
    const shown = errors.filter(({ pointer }) => hasControl(element.current, fieldOf(pointer)));
    shown.forEach(({ pointer, detail }, index) =>
      form.setError(fieldOf(pointer) as Path<Values<O>>, { type: "server", message: detail }, { shouldFocus: index === 0 }),
    );
    setError(shown.length > 0 && shown.length === errors.length ? null : refusal);
  };
  const act = async () => {
    // Send the values that the person entered and not the parsed ones, because the service parses them itself.
    const values = structuredClone(form.getValues());
    const params = typeof options.params === "function" ? options.params(values) : options.params;
    const request = { ...params, body: withoutBlanks(values) } as unknown as RequestOf<O>;
    const reply = await send.mutateAsync(request).catch(refuse);
    if (reply !== undefined) options.onDone?.(reply, values);
  };
  const checked = useCheckedSubmit(
    () => loadAll(load),
    () => form.handleSubmit(act)(),
  );
  const submit = (event: FormEvent<HTMLFormElement>) => {
    element.current = event.currentTarget;
    setError(null);
    checked.submit(event);
  };
  return {
    form,
    submit,
    early: early(() => loadAll(load)),
    error: checked.missing ?? error,
    pending: checked.busy,
    reset: () => {
      form.reset(options.defaults);
      setError(null);
    },
    field: (path, as) => ({
      ...form.register(path, as),
      error: form.getFieldState(path, form.formState).error?.message,
    }),
  };
}

type FormProps<V extends FieldValues> = {
  readonly state: OperationFormState<V>;
  /** What did not happen if the request fails: "Nothing was saved." */
  readonly nothing: string;
  readonly id?: string;
  readonly className?: string;
  readonly children: ReactNode;
};

export function OperationForm<V extends FieldValues>({
  state,
  nothing,
  id,
  className = "grid grid-cols-1 gap-5",
  children,
}: FormProps<V>) {
  return (
    <form
      className={className}
      method="post"
      noValidate
      onSubmit={state.submit}
      {...state.early}
      {...(id !== undefined && { id })}
    >
      <Scripted>{children}</Scripted>
      {state.error && <ProblemNotice error={state.error} nothing={nothing} />}
    </form>
  );
}

type SubmitProps = {
  readonly state: Pick<OperationFormState<FieldValues>, "pending">;
  readonly form?: string;
  readonly off?: boolean;
  readonly children: ReactNode;
};

export function Submit({ state, form, off = false, children }: SubmitProps) {
  return (
    <Button tone="primary" type="submit" form={form} disabled={off} aria-busy={state.pending}>
      {children}
    </Button>
  );
}
