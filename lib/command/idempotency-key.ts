import { z } from "zod";
import { canonicalJson } from "#lib/canonical-json.ts";
import { fingerprintOf, slotOf } from "#lib/command/idempotency.ts";
import type { ParsedInput } from "#lib/http/input.ts";
import type { Caller, Idempotency, Operation } from "#lib/http/operation.ts";
import { invalidField, Problem } from "#lib/problem.ts";

const HEADER = /^[\x21-\x7e]{1,255}$/;
const POINTER = "/headers/Idempotency-Key";

/** Without the quotes of a structured header, in which the IETF's draft writes the key: "k-1" and k-1 are one key. */
const keyIn = (header: string | null): string | null => (header === null ? null : (/^"(.*)"$/.exec(header)?.[1] ?? header));

const at = (value: unknown, name: string): unknown =>
  typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Record<string, unknown>)[name]
    : undefined;

/** Null if only the header can contain the key. */
function placeOf({ body, idempotencyKeyAt }: Operation): readonly string[] | null {
  if (idempotencyKeyAt) return idempotencyKeyAt;
  return body instanceof z.ZodObject && Object.hasOwn(body.shape, "idempotencyKey") ? ["idempotencyKey"] : null;
}

/** For these operations a retry must find the stored reply even after the person has changed their active organization. */
const isPersonal = (access: Operation["access"]): boolean =>
  access === "session" || (typeof access === "object" && "platformCapability" in access);

const scopeOf = (caller: Caller, access: Operation["access"]): string =>
  isPersonal(access) ? caller.subjectId : (caller.organizationId ?? caller.subjectId);

function leaveOut(value: unknown, [name, ...rest]: readonly string[]): unknown {
  if (name === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return value;
  const { [name]: inner, ...others } = value as Record<string, unknown>;
  return rest.length === 0 ? others : { ...others, [name]: leaveOut(inner, rest) };
}

type Asking = { readonly headers: Pick<Headers, "get"> };

/**
 * The returned function gives null for GET, without a caller, or if a key is optional and was not sent.
 * It throws Problem invalid_request or idempotency_key_required.
 */
export function compileIdempotency(
  operation: Operation,
): (request: Asking, input: Pick<ParsedInput, "params" | "raw" | "body">, caller: Caller | null) => Idempotency | null {
  if (operation.method === "GET") return () => null;
  const place = placeOf(operation);
  const pointer = place ? `/${place.join("/")}` : "";
  const madeAnew = operation.madeAnew ?? [];
  return (request, input, caller) => {
    const header = keyIn(request.headers.get("idempotency-key"));
    const inBody = place?.reduce(at, input.body);
    if (header !== null && !HEADER.test(header)) {
      throw invalidField(POINTER, "Use 1 to 255 visible ASCII characters.");
    }
    if (typeof inBody === "string" && header !== null && header !== inBody) {
      throw invalidField(POINTER, `The header and ${pointer} in the body carry different keys. Send one of them.`);
    }
    const key = typeof inBody === "string" ? inBody : header;
    if (key === null) {
      if (!operation.idempotencyKeyAt) return null;
      throw new Problem("idempotency_key_required", {
        detail: `Send an idempotency key in ${operation.idempotencyKeyAt.join(".")} or in the Idempotency-Key header.`,
      });
    }
    if (!caller) return null;
    const { environment } = caller;
    return {
      key,
      slot: slotOf({ organizationId: scopeOf(caller, operation.access), environment, operationId: operation.id, key }),
      fingerprint: fingerprintOf(canonicalJson({ path: input.params, body: madeAnew.reduce(leaveOut, input.raw) })),
    };
  };
}
