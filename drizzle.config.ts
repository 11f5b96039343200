import { defineConfig } from "drizzle-kit";

export default defineConfig({
  dialect: "postgresql",
  schema: ["./lib/*/tables.ts", "./lib/identity/oauth-tables.ts", "./lib/holds/record-tables.ts", "./lib/holds/card-tables.ts"],
  out: "./drizzle",
});
