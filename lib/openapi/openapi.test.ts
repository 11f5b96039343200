import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { openApiDocument } from "#lib/openapi/openapi.ts";
import type { Operation } from "#lib/http/operation.ts";
import { operations } from "#lib/operations/operations.ts";
import { problems } from "#lib/problem.ts";

type Documented = { operationId: string; responses: Record<string, unknown> };
const document = openApiDocument(operations) as {
  paths: Record<string, Record<string, Documented>>;
  components: {
    responses: Record<string, { content: Record<string, { schema: { $ref: string } }> }>;
    schemas: Record<string, { properties: object }>;
  };
};
const documented = new Map(
  Object.values(document.paths).flatMap((item) => Object.values(item).map((one) => [one.operationId, one] as const)),
);

/** How many error statuses the API document must have for these operations. All others must have six. */
const variantCounts: Readonly<Record<string, number>> = {
  quoteFee: 8,
  registerMandate: 8,
  createServiceAccount: 7,
  executePayment: 7,
};

/** No authorization's id is the word executions, so these two paths are not ambiguous. */
const distinct = `openapi.json:
  no-ambiguous-paths:
    - '#/paths/~1api~1v1~1payments~1{authorizationId}~1record'
`;

const require = createRequire(import.meta.url);

describe("openApiDocument", () => {
  test("has no findings under Redocly's recommended rules", async () => {
    const folder = await mkdtemp(join(tmpdir(), "openapi-"));
    try {
      const file = join(folder, "openapi.json");
      await writeFile(file, JSON.stringify(document));
      await writeFile(join(folder, ".redocly.lint-ignore.yaml"), distinct);
      const cli = require.resolve("@redocly/cli/bin/cli.js");
      const { stdout } = await promisify(execFile)(
        process.execPath,
        [cli, "lint", file, "--extends", "recommended", "--format", "json"],
        {
          cwd: folder,
          env: { ...process.env, REDOCLY_TELEMETRY: "off", REDOCLY_SUPPRESS_UPDATE_NOTICE: "true" },
        },
      ).catch((error: { stdout: string }) => error);
      expect(JSON.parse(stdout)).toMatchObject({ totals: { errors: 0, warnings: 0, ignored: 1 } });
    } finally {
      await rm(folder, { recursive: true });
    }
  });

  test.each(operations.map((one) => [one.id, one] as const))("%s documents all error statuses of the interface", (id) => {
    const refusals = Object.keys(documented.get(id)?.responses ?? {}).filter((status) => Number(status) >= 400);
    expect(refusals).toHaveLength(variantCounts[id] ?? 6);
    expect(refusals[0]).toBe("400");
  });

  test("only the 400 response has field errors", () => {
    const withErrors = Object.entries(document.components.responses).filter(([, response]) => {
      const name = response.content["application/problem+json"]?.schema.$ref.split("/").at(-1) ?? "";
      return "errors" in (document.components.schemas[name]?.properties ?? {});
    });
    expect(withErrors.map(([name]) => name)).toEqual(["InvalidRequest"]);
  });

  test("every operation has its own id and path", () => {
    expect(new Set(operations.map(({ id }) => id)).size).toBe(operations.length);
    expect(new Set(operations.map(({ method, path }) => `${method} ${path}`)).size).toBe(operations.length);
  });
});

const parametersOf = ({ path }: Operation): string[] => [...path.matchAll(/\{([^}]+)\}/g)].map(([, name = ""]) => name);

describe.each(operations.map((one) => [one.id, one] as const))(
  "the worked example of %s",
  (_id, { method, path, body, query, response, example, problems: codes }) => {
    test("matches the schemas", () => {
      if (body) expect(body.safeParse(example.body ?? {})).toMatchObject({ success: true });
      else expect(example.body).toBeUndefined();
      if (query) expect(query.safeParse(example.query ?? {})).toMatchObject({ success: true });
      else expect(example.query).toBeUndefined();
      expect(response.parse(example.response)).toEqual(example.response);
    });

    test("contains all path parameters, and the operation lists only known problems", () => {
      expect(Object.keys(example.params ?? {}).toSorted()).toEqual(parametersOf({ path } as Operation).toSorted());
      for (const code of codes) expect(problems).toHaveProperty(code);
      if (method === "GET") expect(body).toBeUndefined();
    });
  },
);
