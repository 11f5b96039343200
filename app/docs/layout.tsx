import type { ReactNode } from "react";
import { readCaller } from "#app/session.ts";
import { readTheme } from "#app/theme.ts";
import { DocsNav, type DocsChapter } from "#components/docs/docs-nav.tsx";
import { ShellFrame } from "#components/shell/shell-frame.tsx";
import { ThemeSwitch } from "#components/shell/theme-switch.tsx";
import { buttonClass } from "#components/ui/button-class.ts";
import { DocsSearch } from "#components/docs/docs-search.tsx";
import { chapters, sectionOf } from "#lib/pages/docs/reference.ts";
import { env } from "#lib/env.ts";

const contents = (): DocsChapter[] => [
  {
    title: "Start",
    links: [
      ["Quickstart", "/docs/quickstart"],
      ["MCP server", "/docs/mcp"],
      ["API reference", "/docs"],
      ["Verify a receipt", "/verify"],
    ],
  },
  ...chapters().map(({ tag, operations }) => ({
    title: tag,
    href: sectionOf(tag),
    links: operations.map(({ id }) => [id, `/docs/${id}`] as const),
  })),
];

export default async function DocsLayout({ children }: { readonly children: ReactNode }) {
  const caller = await readCaller();
  return (
    <ShellFrame
      environment={env().ENVIRONMENT}
      head={
        <>
          <a className={buttonClass()} href={caller ? "/" : "/sign-in"}>
            {caller ? "Back to your pages" : "Sign in"}
          </a>
          <DocsSearch />
        </>
      }
      nav={(label) => <DocsNav chapters={contents()} label={label} />}
      foot={<ThemeSwitch theme={await readTheme()} />}
    >
      {children}
    </ShellFrame>
  );
}
