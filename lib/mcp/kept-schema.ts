import type { StandardSchemaWithJSON } from "@modelcontextprotocol/server";
import type { z } from "zod";

type Options = Parameters<StandardSchemaWithJSON["~standard"]["jsonSchema"]["input"]>[0];
type Json = ReturnType<StandardSchemaWithJSON["~standard"]["jsonSchema"]["input"]>;

/** Keeps the JSON form, because making it for all tools takes milliseconds, and each request needs it. */
export function keptSchema(schema: z.ZodObject): StandardSchemaWithJSON {
  const standard = schema["~standard"];
  const kept = new Map<string, Json>();
  const of =
    (side: "input" | "output") =>
    (options: Options): Json => {
      const name = `${side} ${options.target}`;
      const json = kept.get(name) ?? standard.jsonSchema[side](options);
      kept.set(name, json);
      return json;
    };
  return { "~standard": { ...standard, jsonSchema: { input: of("input"), output: of("output") } } };
}
