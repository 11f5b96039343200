"use client";

import { Autocomplete } from "@base-ui/react/autocomplete";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { Search } from "lucide-react";
import { useRouter } from "next/navigation";
import { useEffect, useState } from "react";
import { atAddress, call } from "#lib/http/client.ts";
import type * as contract from "#lib/search/contract.ts";
import { foundCommands, matching, type Act, type Command, type CommandGroup } from "./commands.ts";
import { useActivateOrganization, useSignOut } from "#components/identity/leave.ts";
import type { SearchEntry } from "./palette.tsx";
import { applyTheme } from "./theme.ts";

const searchOrganization = atAddress<typeof contract.searchOrganization>({
  id: "searchOrganization",
  method: "GET",
  path: "/api/v1/search",
});
const PAUSE_MS = 150;
const QUERY_MIN = 2;
const QUERY_MAX = 128;

/** The text as it was when the person last stopped typing. */
function usePaused(text: string): string {
  const [paused, setPaused] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setPaused(text), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return paused;
}

function useFound(text: string): CommandGroup {
  const q = usePaused(text.trim());
  const { data } = useQuery({
    queryKey: [searchOrganization.id, q],
    queryFn: ({ signal }) => call(searchOrganization, { query: { q } }, { signal }),
    enabled: q.length >= QUERY_MIN && q.length <= QUERY_MAX,
    placeholderData: keepPreviousData,
    retry: false,
  });
  return foundCommands(text.trim().length >= QUERY_MIN ? (data?.items ?? []) : []);
}

function useAct(close: () => void): (act: Act) => void {
  const router = useRouter();
  const signOut = useSignOut();
  const activate = useActivateOrganization();
  return (act) => {
    close();
    if ("go" in act) router.push(act.go);
    else if ("activate" in act) activate.send({ organizationId: act.activate });
    else if ("signOut" in act) signOut.send();
    else applyTheme(act.theme);
  };
}

const Line = ({ command, onChoose }: { readonly command: Command; readonly onChoose: () => void }) => (
  <Autocomplete.Item
    className="flex min-h-9 cursor-pointer flex-wrap items-center justify-between gap-x-4 rounded-sm px-3 py-1 text-sm wrap-anywhere data-highlighted:bg-accent-wash data-highlighted:inset-ring data-highlighted:inset-ring-accent"
    value={command}
    onClick={onChoose}
  >
    <bdi>{command.label}</bdi>
    {command.hint !== undefined && <span className="text-xs text-muted">{command.hint}</span>}
  </Autocomplete.Item>
);

type Props = { readonly commands: readonly CommandGroup[]; readonly entry: SearchEntry; readonly onClose: () => void };

export function PalettePanel({ commands, entry: { field, text, setText }, onClose }: Props) {
  const found = useFound(text);
  const act = useAct(onClose);
  const groups = [...matching(commands, text), ...(found.items.length > 0 ? [found] : [])];
  return (
    <Autocomplete.Root
      open
      inline
      items={groups}
      filter={null}
      value={text}
      onValueChange={(value, { reason }) => reason !== "item-press" && setText(value)}
      itemToStringValue={({ label }: Command) => label}
      autoHighlight="always"
      keepHighlight
    >
      <div className="flex items-center gap-3 border-b px-4 text-muted focus-within:shadow-[inset_0_-2px_0_var(--color-focus)]">
        <Search className="icon" aria-hidden />
        <Autocomplete.Input
          ref={field}
          className="min-h-13 min-w-0 flex-1 border-0 bg-transparent p-0 text-text outline-none"
          aria-label="Search pages, actions, names and ids"
          placeholder="Search pages, actions, names and ids"
        />
      </div>
      <Autocomplete.Empty className="text-sm wrap-anywhere text-muted not-empty:px-4 not-empty:py-5">
        {text !== "" && `Nothing found for “${text}”.`}
      </Autocomplete.Empty>
      <Autocomplete.List className="scroll-py-2 overflow-y-auto overscroll-contain p-2 empty:hidden">
        {(group: CommandGroup) => (
          <Autocomplete.Group key={group.value} items={group.items}>
            <Autocomplete.GroupLabel className="px-3 pt-3 pb-1 text-xs font-medium text-muted">
              {group.value}
            </Autocomplete.GroupLabel>
            <Autocomplete.Collection>
              {(command: Command) => <Line key={command.value} command={command} onChoose={() => act(command.act)} />}
            </Autocomplete.Collection>
          </Autocomplete.Group>
        )}
      </Autocomplete.List>
    </Autocomplete.Root>
  );
}
