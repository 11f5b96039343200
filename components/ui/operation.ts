"use client";

import { useMutation } from "@tanstack/react-query";
import { useRouter } from "next/navigation";
import { useCallback, useRef } from "react";
import { call, type ReplyOf } from "#lib/http/client.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";
import { toast } from "./toast.tsx";

export type After<R, A> = {
  /** The message that people see when it is done, or a function that may return it. */
  readonly done?: string | ((reply: R, sent: A) => string | void);
  /** When the page is read again: after success only, if absent. "never" is for what changes nothing, or leaves the page. */
  readonly refresh?: "always" | "never";
  /** After success nothing more is sent, because the page is left or shows something else. */
  readonly once?: boolean;
};

type Options<R, A> = After<R, A> & { readonly failed?: (error: Error, sent: A) => void };

export type Sending<R, A> = {
  /** Does nothing while a request runs. */
  readonly send: (request: A) => void;
  readonly busy: boolean;
  readonly isDone: boolean;
  readonly error: Error | null;
  readonly data: R | undefined;
  readonly sent: A | undefined;
  readonly reset: () => void;
};

/** Sends an operation, or does what the function does, and then refreshes the page and shows a message. */
export function useOperation<const O extends Operation>(
  operation: O,
  options?: Options<ReplyOf<O>, RequestOf<O>>,
): Sending<ReplyOf<O>, RequestOf<O>>;
export function useOperation<R, A = void>(act: (request: A) => Promise<R>, options?: Options<R, A>): Sending<R, A>;
export function useOperation<R, A>(
  does: Operation | ((request: A) => Promise<R>),
  { done, failed, refresh, once = false }: Options<R, A> = {},
): Sending<R, A> {
  const router = useRouter();
  // Ignore the second click of a double click: it arrives before React has rendered the effect of the first one.
  const sending = useRef(false);
  const { mutate, isPending, isSuccess, error, data, variables, reset } = useMutation({
    mutationFn: (request: A) =>
      typeof does === "function" ? does(request) : (call(does, request as RequestOf<Operation>) as Promise<R>),
    onSuccess: (reply, sent) => {
      const said = typeof done === "function" ? done(reply, sent) : done;
      if (typeof said === "string") toast(said);
    },
    ...(failed && { onError: failed }),
    onSettled: (_, refusal) => {
      sending.current = once && refusal === null;
      if (refresh === "always" || (refresh === undefined && refusal === null)) router.refresh();
    },
  });
  const send = useCallback(
    (request: A) => {
      if (sending.current) return;
      sending.current = true;
      mutate(request);
    },
    [mutate],
  );
  return { send, busy: isPending || (once && isSuccess), isDone: isSuccess, error, data, sent: variables, reset };
}
