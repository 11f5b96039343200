import { X } from "lucide-react";
import { type KeyboardEvent, useRef, useState } from "react";
import { useController } from "react-hook-form";
import { announce } from "#components/ui/announcements.tsx";
import { Field } from "#components/ui/field.tsx";
import { visible } from "#lib/visible-text.ts";
import type { MandateDraft } from "#lib/mandates/draft/draft.ts";
import { useDraft } from "./draft-form.ts";

type ListPath =
  | "domains.allow"
  | "domains.deny"
  | "sellers.allow"
  | "sellers.deny"
  | "payTo.allow"
  | "payTo.deny"
  | "resources.allow"
  | "cards.categories"
  | "cards.countries"
  | "cards.merchants";

type Props = {
  readonly path: ListPath;
  readonly label: string;
  readonly hint?: string;
  /** Whether entries may contain spaces. If so, only commas separate entries. */
  readonly blanks?: boolean;
  readonly tidy?: (entry: string) => string;
};

const asTyped = (entry: string): string => entry;

/** Enter, a comma at the end of the text, or leaving the field adds the typed entries. */
export function Entries({ path, label, hint, blanks = false, tidy = asTyped }: Props) {
  const { errorOf } = useDraft();
  const { field } = useController<MandateDraft, ListPath>({ name: path });
  const [typed, setTyped] = useState("");
  const input = useRef<HTMLInputElement>(null);
  const add = (text: string) => {
    const found = text.split(blanks ? /,/ : /[\s,]+/).map((entry) => tidy(entry.trim()));
    const fresh = [...new Set(found)].filter((entry) => entry !== "" && !field.value.includes(entry));
    setTyped("");
    if (fresh.length > 0) field.onChange([...field.value, ...fresh]);
  };
  const keys = (event: KeyboardEvent) => {
    if (event.key !== "Enter") return;
    // Prevent Enter from sending the form.
    event.preventDefault();
    add(typed);
  };
  const remove = (entry: string) => {
    field.onChange(field.value.filter((one) => one !== entry));
    announce(`Removed ${entry}`);
    input.current?.focus();
  };
  return (
    <div className="grid gap-2">
      {field.value.length > 0 && (
        <ul className="mb-1 flex flex-wrap gap-2">
          {field.value.map((entry) => (
            <li
              className="inline-flex max-w-full items-center rounded-sm border bg-sunken pl-2 text-sm wrap-anywhere"
              key={entry}
            >
              <bdi>{visible(entry)}</bdi>
              <button
                className="grid size-7 flex-none cursor-pointer place-items-center rounded-sm text-muted hover:text-danger"
                type="button"
                aria-label={`Remove ${visible(entry)}`}
                onClick={() => remove(entry)}
              >
                <X className="icon size-3" aria-hidden />
              </button>
            </li>
          ))}
        </ul>
      )}
      <Field
        ref={(element) => {
          input.current = element;
          field.ref(element);
        }}
        label={label}
        hint={hint}
        error={errorOf(path)}
        value={typed}
        autoComplete="off"
        spellCheck={false}
        onChange={(event) => (event.target.value.endsWith(",") ? add(event.target.value) : setTyped(event.target.value))}
        onKeyDown={keys}
        onBlur={() => {
          add(typed);
          field.onBlur();
        }}
      />
    </div>
  );
}
