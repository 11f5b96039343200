import { mutationOptions } from "@tanstack/react-query";
import { call, type ReplyOf } from "#lib/http/client.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";

/** The client side of an operation value: key, input, reply and refusal are read from it. */
export const mutation = <const O extends Operation>(operation: O) =>
  mutationOptions<ReplyOf<O>, Error, RequestOf<O>>({
    mutationKey: [operation.id],
    mutationFn: (request) => call(operation, request),
  });
