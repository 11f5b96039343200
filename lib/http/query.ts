import { mutationOptions } from "@tanstack/react-query";
import { call, type ReplyOf } from "#lib/http/client.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";

/**
 * Makes a mutation of react-query that calls an operation. The mutation key is the operation's id, and its types give the input
 * and the reply.
 */
export const mutation = <const O extends Operation>(operation: O) =>
  mutationOptions<ReplyOf<O>, Error, RequestOf<O>>({
    mutationKey: [operation.id],
    mutationFn: (request) => call(operation, request),
  });
