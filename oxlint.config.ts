import { defineConfig, type OxlintOverride } from "oxlint";

type Ban = { readonly regex: string; readonly message: string; readonly allowTypeImports: boolean };

const ban = (message: string, ...regexes: string[]): Ban[] =>
  regexes.map((regex) => ({ regex, message, allowTypeImports: true }));

const app = ban("Nothing imports from app/.", "^(\\.{1,2}/)+app/", "^#app/");
const framework = ban("lib/ runs under plain Node: no Next.js, no React.", "^next(/|$)", "^server-only$", "^react(-dom)?(/|$)");
const sql = ban("SQL stands in store files.", "^drizzle-orm(/|$)", "^postgres$", "^#lib/.*/(.*-)?tables\\.ts$");
const database = ban("The database is reached from handlers and stores.", "^#lib/db/", "^#lib/.*/(.*-)?store\\.ts$");
const node = ban("This file is pure, or runs in a browser.", "^node:", "^#lib/(env|process)\\.ts$", "^#lib/(api|telemetry)/");
const servers = ban(
  "This runs in a browser.",
  "^better-auth",
  "^pino$",
  "^prom-client$",
  "^@hono/",
  // Browsers may import the contract of lib/audit and what the contract imports, so lib/audit is not banned as a whole.
  "^#lib/audit/(.*-)?(chain|store|tables|transact|audit-events|audit|checkpoints?)\\.ts$",
);

const directions = (files: string[], ...bans: Ban[][]): OxlintOverride => ({
  files,
  rules: { "no-restricted-imports": ["error", { patterns: bans.flat() }] },
});

/** Files without I/O, such as those with decisions. */
const decisions = [
  "lib/mandates/policy/**/*.ts",
  "lib/mandates/draft/{fix-denial,fix-words}.ts",
  "lib/mandates/check-terms.ts",
  "lib/payments/{refusals/backtest,executions/settlement-state,stage}.ts",
  "lib/payments/batch/{decide,place,purchase,redeem,take-hold}.ts",
  "lib/payments/offers/compare-intent.ts",
  "lib/holds/execution-rules.ts",
  "lib/approvals/{decision/approval,checkout-state}.ts",
  "lib/billing/fees.ts",
  "lib/x402/{failure,verify,compare-challenge}.ts",
  "lib/commerce/{readiness/readiness,order/order-state}.ts",
  "lib/outbound/outbound-address.ts",
  "lib/pages/buyer/timeline.ts",
  "lib/storefront/{read-manifest,read-quote,seller-text}.ts",
  "lib/{money,next-actions,problem,vocabulary}.ts",
  "sdk/src/purchase/*.ts",
];

export default defineConfig({
  jsPlugins: ["./scripts/floors.ts"],
  plugins: ["eslint", "typescript", "unicorn", "oxc", "import", "promise", "vitest", "nextjs", "react", "jsx-a11y"],
  categories: { correctness: "error", suspicious: "error", perf: "error" },
  options: { typeAware: true },
  ignorePatterns: [
    "node_modules",
    "dist",
    "sdk/dist",
    "sdk/src/operations.ts",
    ".next",
    ".data",
    ".test",
    "contracts/artifacts",
    "drizzle",
    "next-env.d.ts",
  ],
  rules: {
    eqeqeq: "error",
    "no-var": "error",
    "prefer-const": "error",
    "no-console": "error",
    "import/no-cycle": "error",
    "import/no-default-export": "error",
    "typescript/no-explicit-any": "error",
    "typescript/no-floating-promises": "error",
    "typescript/no-misused-promises": "error",
    "typescript/switch-exhaustiveness-check": "error",
    "typescript/consistent-type-imports": "error",
    "max-lines": ["error", { max: 300, skipBlankLines: false, skipComments: false }],
    "max-lines-per-function": ["error", { max: 70 }],
    // A loop may have to wait for each step, because the order matters for locks, pages and retries.
    "no-await-in-loop": "off",
    "floors/doors": "error",
    "floors/process-names": "error",
    "no-shadow": "off",
    "import/no-unassigned-import": "off",
    "import/no-named-as-default-member": "off",
    "react/react-in-jsx-scope": "off",
    // Allow functions that render a table cell to be passed to a table; they are not components.
    "react/no-unstable-nested-components": ["error", { allowAsProps: true }],
    "unicorn/no-array-sort": "off",
    "unicorn/consistent-function-scoping": "off",
    "no-underscore-dangle": "off",
    "nextjs/no-html-link-for-pages": "off",
    "oxc/no-map-spread": "off",
    "promise/always-return": "off",
    "promise/no-promise-in-callback": "off",
    "unicorn/no-array-reverse": "off",
    "vitest/expect-expect": "off",
    "vitest/valid-expect": ["error", { maxArgs: 2 }],
    "vitest/no-conditional-expect": "off",
    "vitest/no-standalone-expect": "off",
    "vitest/require-to-throw-message": "off",
    "typescript/consistent-return": "off",
    "typescript/no-unsafe-unary-minus": "off",
    "typescript/no-misused-spread": "off",
    "typescript/require-array-sort-compare": "off",
    "typescript/unbound-method": "off",
    "typescript/no-unsafe-type-assertion": "off",
    "typescript/no-non-null-assertion": "off",
  },
  overrides: [
    { files: ["lib/**/*.ts"], rules: { "floors/downward": "error" } },
    directions(["lib/**/*.ts"], app, framework, sql),
    directions(
      ["lib/**/{*-store,store,*-tables,tables}.ts", "lib/db/**/*.ts", "lib/audit/*.ts", "lib/identity/sessions/auth.ts"],
      app,
      framework,
    ),
    directions(["lib/payments/batch/{facts,load,read,rows,save,statements}.ts"], app, framework),
    directions(decisions, app, framework, sql, database, node),
    directions(
      ["lib/**/{contract,*-contract}.ts", "lib/**/*-schema.ts", "lib/http/{operation,client}.ts"],
      app,
      framework,
      sql,
      database,
      node,
      servers,
    ),
    directions(["lib/receipts/*.ts"], app, framework, sql, database, node, servers),
    { files: decisions, rules: { "no-restricted-globals": ["error", "fetch", "process", "setTimeout"] } },
    directions(["app/**"], sql, database),
    directions(["components/**"], app, sql, database, node, servers),
    {
      files: [
        "**/*.config.{ts,mjs}",
        "app/**",
        "bench/*/app/**",
        "test/helpers/cluster.ts",
        "e2e/setup/start.ts",
        "proxy.tsx",
        "scripts/floors.ts",
      ],
      rules: { "import/no-default-export": "off" },
    },
    {
      files: [
        "scripts/**",
        "server.ts",
        "pages.ts",
        "bench/**",
        "bin/**",
        "examples/**",
        "sdk/src/cli.ts",
        "sdk/src/cli/**",
        "instrumentation.tsx",
      ],
      rules: { "no-console": "off" },
    },
    {
      files: ["**/*.test.ts", "test/**", "e2e/**"],
      rules: { "max-lines-per-function": "off", "floors/downward": "off", "no-restricted-imports": ["error", { patterns: app }] },
    },
    { files: ["app/routes.ts"], rules: { "import/max-dependencies": "off" } },
    { files: ["lib/server/entry.ts", "test/server/mount.test.ts"], rules: { "no-restricted-imports": "off" } },
  ],
});
