import { z } from "zod";

const SEGMENT = /^(?:[A-Za-z0-9._~-]+|\{[A-Za-z][A-Za-z0-9_]*\})$/;

/** Refuses text that a server could read as another path: `..`, escapes and `//`. */
function isPathTemplate(text: string): boolean {
  if (!text.startsWith("/")) return false;
  if (text === "/") return true;
  const segments = text.slice(1).split("/");
  const names = segments.filter((segment) => segment.startsWith("{"));
  return (
    segments.every((segment) => SEGMENT.test(segment) && segment !== "." && segment !== "..") &&
    new Set(names).size === names.length
  );
}

const PATH_RULE =
  "Write a path of letters, digits and . _ ~ - with parameters in braces, such as /reports/{date}. A parameter's name has only letters, digits and _.";

export const PathTemplate = z
  .string()
  .max(1024)
  .refine(isPathTemplate, PATH_RULE)
  .meta({ description: "The path of the resource, with parameters in braces.", examples: ["/reports/{date}"] });
