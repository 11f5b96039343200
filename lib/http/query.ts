import { mutationOptions } from "@tanstack/react-query";
import { call, type ReplyOf } from "#lib/http/client.ts";
import type { Operation, RequestOf } from "#lib/http/operation.ts";

export const mutation = <const O extends Operation>(operation: O) =>
  mutationOptions<ReplyOf<O>, Error, RequestOf<O>>({
    mutationKey: [operation.id],
    mutationFn: (request) => call(operation, request),
  });
