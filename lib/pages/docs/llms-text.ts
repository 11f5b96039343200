import { chapters, introduction } from "#lib/pages/docs/reference.ts";

/** See https://llmstxt.org */
export function llmsText(baseUrl: string): string {
  const [about = "", ...rules] = introduction().map((paragraph) => paragraph.replaceAll("\n", " "));
  const lists = chapters().map(({ tag, description, operations }) => {
    const lines = operations.map(
      ({ id, method, path, summary }) => `- [${id}](${baseUrl}/docs/${id}): \`${method} ${path}\` ${summary}`,
    );
    return [`## ${tag}`, "", description, "", ...lines].join("\n");
  });
  const start = [
    "## Start",
    "",
    `- [Quickstart](${baseUrl}/docs/quickstart): the first authorization with curl, TypeScript and Python`,
    `- [Skill](${baseUrl}/SKILL.md): how an agent pays, what a denial means, and what not to do`,
    `- [MCP server](${baseUrl}/docs/mcp): the tools at ${baseUrl}/mcp for agents in MCP clients`,
    `- [OpenAPI document](${baseUrl}/api/v1/openapi.json): every field of every operation, with an example of each`,
    `- [Verify a receipt](${baseUrl}/verify): a page that checks a receipt in the browser`,
  ].join("\n");
  return [`# Countersign`, `> ${about}`, ...rules, start, ...lists].join("\n\n") + "\n";
}
