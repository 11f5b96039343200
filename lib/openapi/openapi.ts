import { z } from "zod";
import { createSchemas, type JsonSchema } from "#lib/openapi/openapi-schemas.ts";
import { about, accessText, repeatText, tags, variantText } from "#lib/openapi/openapi-text.ts";
import type { Operation } from "#lib/http/operation.ts";
import { defaultActions } from "#lib/next-actions.ts";
import { ErrorBody, problems, type ProblemCode } from "#lib/problem.ts";

const BASE_VARIANTS = [400, 401, 403, 404, 429, 500] as const;
type Variant = (typeof BASE_VARIANTS)[number] | 402 | 409 | 422 | 502;

export const variantsOf = (operation: Operation): readonly Variant[] =>
  [...BASE_VARIANTS, ...(operation.variants ?? [])].toSorted((a, b) => a - b);

/** Without field errors, for all responses except a 400. */
const PlainProblem = ErrorBody.omit({ errors: true }).meta({
  id: "Problem",
  description: "Why a request was refused, who can do something about it, and what (RFC 9457).",
});

type Use = ReturnType<typeof createSchemas>["use"];

const exampleProblem = (code: ProblemCode, detail: string): JsonSchema => {
  const { status, title, category, actor, retryable } = problems[code];
  return {
    type: "about:blank",
    title,
    status,
    detail,
    requestId: "req_01kaj4n7v8e2m0x3c9t5q6r7s8",
    code,
    category,
    actor,
    retryable,
    nextActions: defaultActions(code, category),
    ...(status === 400 && { errors: [{ detail: "This field is required.", pointer: "/mandateId" }] }),
  };
};

const requestIdHeader = { "Request-Id": { $ref: "#/components/headers/RequestId" } };
const rateHeaders = {
  "RateLimit-Policy": { $ref: "#/components/headers/RateLimitPolicy" },
  RateLimit: { $ref: "#/components/headers/RateLimit" },
};
const retryAfter = { "Retry-After": { $ref: "#/components/headers/RetryAfter" } };

const headersOf = (status: Variant): JsonSchema => ({
  ...requestIdHeader,
  ...(status === 401 && { "WWW-Authenticate": { $ref: "#/components/headers/WwwAuthenticate" } }),
  ...(status === 429 && { ...retryAfter, ...rateHeaders }),
});

function problemResponses(use: Use): Record<string, JsonSchema> {
  const plain = use(PlainProblem, "output");
  const withErrors = use(ErrorBody, "output");
  return Object.fromEntries(
    Object.entries(variantText).map(([status, { name, description, code, detail }]) => [
      name,
      {
        description,
        headers: headersOf(Number(status) as Variant),
        content: {
          "application/problem+json": {
            schema: status === "400" ? withErrors : plain,
            ...(code && { example: exampleProblem(code, detail) }),
          },
        },
      },
    ]),
  );
}

const pathParameters = ({ path, example }: Operation): JsonSchema[] =>
  [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string", pattern: "^[A-Za-z0-9_.:-]{1,128}$" },
    ...(example.params?.[name] !== undefined && { example: example.params[name] }),
  }));

/** Query parameters are text. If the schema reads a number or boolean from the text, the example shows that value. */
function exampleOf(schema: z.ZodType, text: string): unknown {
  const value = schema.safeParse(text).data;
  return typeof value === "number" || typeof value === "boolean" ? value : text;
}

function queryParameters({ query, example }: Operation, use: Use): JsonSchema[] {
  if (!(query instanceof z.ZodObject)) return [];
  return Object.entries(query.shape as Record<string, z.ZodType>).map(([name, schema]) => {
    const text = example.query?.[name];
    return {
      name,
      in: "query",
      required: !schema.safeParse(undefined).success,
      schema: use(schema, "input"),
      ...(text !== undefined && { example: exampleOf(schema, text) }),
    };
  });
}

/** False for a GET operation, and if `idempotencyKey` is a required field of the body. */
const takesKeyHeader = ({ method, access, body }: Operation): boolean =>
  method !== "GET" &&
  access !== "signature" &&
  !(
    body instanceof z.ZodObject &&
    Object.hasOwn(body.shape, "idempotencyKey") &&
    !(body.shape as Record<string, z.ZodType>)["idempotencyKey"]?.safeParse(undefined).success
  );

const securityOf = ({ access }: Operation): JsonSchema[] => {
  if (access === "anyone") return [];
  if (access === "signature") return [{ stripeSignature: [] }];
  if (access === "authenticated" || (typeof access === "object" && "capability" in access))
    return [{ apiKey: [] }, { session: [] }];
  return [{ session: [] }];
};

function describe(operation: Operation, use: Use): JsonSchema {
  const parameters = [
    ...pathParameters(operation),
    ...queryParameters(operation, use),
    ...(takesKeyHeader(operation) ? [{ $ref: "#/components/parameters/IdempotencyKey" }] : []),
  ];
  const success = {
    description: operation.status === 201 ? "Created." : "Done.",
    headers: { ...requestIdHeader, ...(operation.access !== "anyone" && rateHeaders) },
    content: { "application/json": { schema: use(operation.response, "output"), example: operation.example.response } },
  };
  return {
    operationId: operation.id,
    summary: operation.summary,
    description: [operation.description, repeatText(operation), accessText(operation.access)].filter(Boolean).join("\n\n"),
    tags: [operation.tag],
    security: securityOf(operation),
    ...(parameters.length > 0 && { parameters }),
    ...(operation.body && {
      requestBody: {
        required: !operation.body.safeParse({}).success,
        content: { "application/json": { schema: use(operation.body, "input"), example: operation.example.body ?? {} } },
      },
    }),
    responses: {
      [String(operation.status ?? 200)]: success,
      ...Object.fromEntries(
        variantsOf(operation).map((status) => [String(status), { $ref: `#/components/responses/${variantText[status].name}` }]),
      ),
    },
  };
}

const text = (description: string, example: string): JsonSchema => ({ description, schema: { type: "string" }, example });

const headers = {
  RequestId: text("Names this request in our logs and audit events.", "req_01kaj4n7v8e2m0x3c9t5q6r7s8"),
  RateLimitPolicy: text("The limit: q requests in w seconds.", '"credential";q=5000;w=1'),
  RateLimit: text("What is left of it: r requests, full again after t seconds.", '"credential";r=4999;t=1'),
  RetryAfter: { description: "Seconds to wait.", schema: { type: "integer" }, example: 1 },
  WwwAuthenticate: text("How to authenticate.", 'Bearer realm="countersign"'),
};

const idempotencyKey = {
  name: "Idempotency-Key",
  in: "header",
  required: false,
  description:
    "If the same request is sent again with the same key, it gets the stored answer. Use a new key for each new request. Quotes around the key are not part of it.",
  schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[\\x21-\\x7e]+$" },
  example: "4f1c7f0e-6a0e-4a50-9a4e-0d4cf2f6a001",
};

export function openApiDocument(operations: readonly Operation[]): JsonSchema {
  const { use, finish } = createSchemas();
  const paths: Record<string, JsonSchema> = {};
  for (const operation of operations) {
    const item = (paths[operation.path] ??= {});
    item[operation.method.toLowerCase()] = describe(operation, use);
  }
  const responses = problemResponses(use);
  const used = new Set(operations.map(({ tag }) => tag));
  const needed = new Set(operations.flatMap((operation) => variantsOf(operation).map((status) => variantText[status].name)));
  return {
    openapi: "3.1.1",
    info: {
      title: "Countersign",
      version: "1.0.0",
      summary: "Authorize and execute the payments that software agents make.",
      description: about,
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/", description: "This installation." }],
    tags: tags.filter(({ name }) => used.has(name)),
    paths,
    components: {
      schemas: finish(),
      responses: Object.fromEntries(Object.entries(responses).filter(([name]) => needed.has(name))),
      parameters: { IdempotencyKey: idempotencyKey },
      headers,
      securitySchemes: {
        apiKey: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "csk_sandbox_… or csk_production_…",
          description: "The API key of a service account.",
        },
        session: {
          type: "apiKey",
          in: "cookie",
          name: "countersign.session_token",
          description: "The cookie of a person who signed in; __Host-countersign.session_token if the service uses https.",
        },
        stripeSignature: {
          type: "apiKey",
          in: "header",
          name: "Stripe-Signature",
          description: "Stripe's signature over the bytes of the body, with the secret of a connected endpoint.",
        },
      },
    },
  };
}
