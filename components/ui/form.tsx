"use client";

import { type ComponentProps, type FormEvent, useRef, useState } from "react";
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
import type { ErrorBody } from "#lib/problem.ts";
import { Button } from "./button.tsx";
import { fieldOf, withoutBlanks } from "./field-words.ts";
import { early } from "./on-demand.tsx";
import { type After, useOperation } from "./operation.ts";
import { ProblemNotice } from "./problem.tsx";
import { NOT_LOADED, SaidError } from "./said-error.ts";
import { Scripted } from "./scripted.tsx";

type Registration<V extends FieldValues> = ReturnType<UseFormReturn<V>["register"]> & { readonly error: string | undefined };

export type CheckedFormState<V extends FieldValues> = {
  readonly form: UseFormReturn<V>;
  /** Empty text means that the value is absent. */
  readonly field: (path: Path<V>, as?: RegisterOptions<V, Path<V>>) => Registration<V>;
  readonly submit: (event: FormEvent<HTMLFormElement>) => void;
  readonly early: ReturnType<typeof early>;
  readonly pending: boolean;
  /** An error that the fields cannot show, or can show only in part. */
  readonly error: Error | null;
  /** The service's answer, also if the fields show all of it. */
  readonly refusal: Error | null;
  readonly reset: () => void;
};

/** `done` gets the values that were sent. The form may have other values then, because the person can type meanwhile. */
type Checked<V extends FieldValues, R> = After<R, V> & {
  readonly defaults: DefaultValues<V>;
  /** Loads the code that checks the values, when the person uses the form, because it is large. */
  readonly load: () => Promise<unknown>;
  readonly resolver: Resolver<V>;
  readonly act: (values: V) => Promise<R>;
  readonly fieldsOf: (errors: NonNullable<ErrorBody["errors"]>, sent: V) => Iterable<readonly [path: string, message: string]>;
};

const hasControl = (form: HTMLFormElement | null, path: string): boolean => (form?.elements.namedItem(path) ?? null) !== null;

/** Every form that checks values before it sends them: messages at the fields, and the focus on the first wrong one. */
export function useCheckedForm<V extends FieldValues, R>(options: Checked<V, R>): CheckedFormState<V> {
  const { defaults, load, act, fieldsOf, ...after } = options;
  const [resolver] = useState(() => options.resolver);
  const form = useForm<V>({ defaultValues: defaults, resolver });
  const element = useRef<HTMLFormElement>(null);
  const checking = useRef(false);
  const [isChecking, setChecking] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const sending = useOperation(act, {
    ...after,
    failed: (refusal, sent) => {
      const errors = refusal instanceof ProblemError ? (refusal.problem.errors ?? []) : [];
      const fields = [...fieldsOf(errors, sent)];
      const shown = fields.filter(([path]) => hasControl(element.current, path));
      for (const [path, message] of fields)
        form.setError(path as Path<V>, { type: "server", message }, { shouldFocus: path === shown[0]?.[0] });
      setError(shown.length > 0 && shown.length === errors.length ? null : refusal);
    },
  });
  const check = async () => {
    const loaded = await load().then(
      () => true,
      () => false,
    );
    // Send the values that the person entered and not the parsed ones, because the service parses them itself.
    if (loaded) await form.handleSubmit(() => sending.send(structuredClone(form.getValues())))();
    else setError(new SaidError(NOT_LOADED));
  };
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (checking.current || sending.busy) return;
    element.current = event.currentTarget;
    checking.current = true;
    setChecking(true);
    setError(null);
    void check().finally(() => {
      checking.current = false;
      setChecking(false);
    });
  };
  return {
    form,
    submit,
    early: early(load),
    error,
    refusal: sending.error,
    pending: isChecking || sending.busy,
    reset: () => {
      form.reset(defaults);
      setError(null);
    },
    field: (path, as) => ({
      ...form.register(path, as),
      error: form.getFieldState(path, form.formState).error?.message,
    }),
  };
}

export type WithBody = Operation & { readonly body: z.ZodType<unknown, FieldValues> };
export type Values<O extends WithBody> = z.input<O["body"]>;
type Params<O extends WithBody> = Omit<RequestOf<O>, "body" | "query">;

export type Options<O extends WithBody> = After<ReplyOf<O>, Values<O>> & {
  readonly defaults: DefaultValues<Values<O>>;
  readonly params?: Params<O> | ((values: Values<O>) => Params<O>);
};

const loadAll = <O extends WithBody>(load: () => Promise<O>) => Promise.all([load(), import("./check-body.ts")]);

const resolverOf =
  <O extends WithBody>(load: () => Promise<O>): Resolver<Values<O>> =>
  async (values, context, options) => {
    const [{ body }, { checkBody }] = await loadAll(load);
    return checkBody<Values<O>>(body)(values, context, options);
  };

/** A form whose values are the body of an operation. */
export const useOperationForm = <const O extends WithBody>(
  load: () => Promise<O>,
  { params, ...options }: Options<O>,
): CheckedFormState<Values<O>> =>
  useCheckedForm<Values<O>, ReplyOf<O>>({
    ...options,
    load: () => loadAll(load),
    resolver: resolverOf(load),
    act: async (values) => {
      const places = typeof params === "function" ? params(values) : params;
      return call(await load(), { ...places, body: withoutBlanks(values) } as unknown as RequestOf<O>);
    },
    fieldsOf: (errors) => errors.map(({ pointer, detail }) => [fieldOf(pointer), detail]),
  });

type FormProps<V extends FieldValues> = Pick<ComponentProps<"form">, "id" | "className" | "aria-label" | "children"> & {
  readonly state: CheckedFormState<V>;
  /** What did not happen if the request fails: "Nothing was saved." */
  readonly nothing: string;
};

export const OperationForm = <V extends FieldValues>({ state, nothing, children, ...form }: FormProps<V>) => (
  <form className="grid grid-cols-1 gap-5" {...form} method="post" noValidate onSubmit={state.submit} {...state.early}>
    <Scripted>{children}</Scripted>
    <ProblemNotice error={state.error} nothing={nothing} />
  </form>
);

type SubmitProps = Pick<ComponentProps<typeof Button>, "form" | "size" | "className" | "children"> & {
  readonly state: Pick<CheckedFormState<FieldValues>, "pending">;
  readonly off?: boolean;
};

export const Submit = ({ state, off = false, ...button }: SubmitProps) => (
  <Button {...button} tone="primary" type="submit" disabled={off} aria-busy={state.pending} />
);
