"use client";

import { useRouter } from "next/navigation";
import { type ChangeEvent, type FormEvent, type ReactNode, useEffect, useId, useRef } from "react";
import { Button } from "./button.tsx";
import { useHydrated } from "./hydrated.ts";
import { isTyping } from "./is-typing.ts";

type Props = {
  readonly label: string;
  readonly path: string;
  readonly children: ReactNode;
};

function addressOf(form: HTMLFormElement, path: string): string {
  const params = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (typeof value === "string" && value !== "") params.append(name, value);
  return params.size > 0 ? `${path}?${params}` : path;
}

/** Without scripts, the person presses Apply; with scripts, every filter but the search applies as soon as it changes. */
export function Filters({ label, path, children }: Props) {
  const router = useRouter();
  const form = useRef<HTMLFormElement>(null);
  const hydrated = useHydrated();
  const apply = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    router.push(addressOf(event.currentTarget, path));
  };
  const change = (event: ChangeEvent<HTMLFormElement>) => {
    // While the person types a search, the list must not change; Enter applies the search.
    if ((event.target as HTMLElement).getAttribute("type") !== "search") event.currentTarget.requestSubmit();
  };
  useEffect(() => {
    const go = (event: KeyboardEvent) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const search = form.current?.querySelector<HTMLInputElement>("input[type=search]");
      if (!search) return;
      event.preventDefault();
      search.focus();
      search.select();
    };
    document.addEventListener("keydown", go);
    return () => document.removeEventListener("keydown", go);
  }, []);
  return (
    <search aria-label={label}>
      <form
        ref={form}
        className="flex flex-wrap items-center gap-3 border-b px-4 py-3 md:px-5"
        action={path}
        autoComplete="off"
        onSubmit={apply}
        onChange={change}
      >
        {children}
        <Button withoutScripts size="small" type="submit" className={hydrated ? "sr" : ""}>
          Apply
        </Button>
      </form>
    </search>
  );
}

/** Applies a filter that was chosen before the scripts ran; later shows each new value of the address. */
function useShown<E extends HTMLInputElement | HTMLSelectElement>(value: string) {
  const control = useRef<E>(null);
  const first = useRef(true);
  useEffect(() => {
    const shown = control.current;
    if (!shown) return;
    if (!first.current) shown.value = value;
    else if (shown.value !== value && shown.type !== "search") shown.form?.requestSubmit();
    first.current = false;
  }, [value]);
  return control;
}

type FilterProps = { readonly label: string; readonly name: string; readonly value: string | undefined };

const CONTROL = "min-h-11 py-1.25 text-sm/6 md:min-h-9";

export function FilterSearch({ label, name, value = "", placeholder }: FilterProps & { readonly placeholder?: string }) {
  const id = useId();
  const hydrated = useHydrated();
  const input = useShown<HTMLInputElement>(value);
  return (
    <div className="flex-[1_1_16rem] max-md:basis-full md:max-w-88">
      <label className="sr" htmlFor={id}>
        {label}
      </label>
      <input
        ref={input}
        className={CONTROL}
        type="search"
        id={id}
        name={name}
        defaultValue={value}
        placeholder={placeholder}
        aria-keyshortcuts={hydrated ? "/" : undefined}
      />
    </div>
  );
}

type SelectProps = FilterProps & {
  /** The text of the empty option: "Any status". */
  readonly any: string;
  readonly options: readonly (readonly [value: string, text: string])[];
};

export function FilterSelect({ label, name, value = "", any, options }: SelectProps) {
  const select = useShown<HTMLSelectElement>(value);
  return (
    <select
      ref={select}
      className={`w-auto max-w-full min-w-0 text-ellipsis max-md:flex-[1_1_8rem] md:max-w-56 ${CONTROL}`}
      aria-label={label}
      name={name}
      defaultValue={value}
    >
      <option value="">{any}</option>
      {options.map(([option, text]) => (
        <option key={option} value={option}>
          {text}
        </option>
      ))}
    </select>
  );
}

/** In the page's address the value has the form 2026-11-21. */
export function FilterDate({ label, name, value = "" }: FilterProps) {
  const input = useShown<HTMLInputElement>(value);
  return (
    <label className="inline-flex items-center gap-2 text-[0.875rem] text-muted max-md:flex-[1_1_8rem]">
      {label}
      <input
        ref={input}
        className={`w-auto text-text max-md:min-w-0 max-md:flex-1 ${CONTROL}`}
        type="date"
        name={name}
        defaultValue={value}
      />
    </label>
  );
}
