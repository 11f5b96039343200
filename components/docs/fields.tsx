import type { SchemaField } from "#lib/pages/docs/schema-fields.ts";
import { Prose } from "./prose.tsx";

const VALUES_SHOWN = 24;

function Facts({ field: { values, notes } }: { readonly field: SchemaField }) {
  const shown = values.slice(0, VALUES_SHOWN);
  return (
    <>
      {shown.length > 0 && (
        <p className="text-xs text-muted">
          One of{" "}
          {shown.map((value, index) => (
            <span key={value}>
              {index > 0 && ", "}
              <code>{value}</code>
            </span>
          ))}
          {values.length > shown.length && ` and ${values.length - shown.length} more`}
        </p>
      )}
      {notes.length > 0 && <p className="text-xs text-muted wrap-anywhere">{notes.join("; ")}</p>}
    </>
  );
}

export function Fields({ fields }: { readonly fields: readonly SchemaField[] }) {
  return (
    <dl className="grid in-[dd]:mt-2 in-[dd]:mb-1 in-[dd]:border-l in-[dd]:pl-4">
      {fields.map((field) => (
        <div key={field.name} className="border-t py-3 text-sm first:border-t-0 first:pt-0">
          <dt className="flex flex-wrap items-baseline gap-x-2">
            <code className="font-semibold">{field.name}</code> <span className="text-muted">{field.type}</span>
            {field.required && <span className="text-[0.75rem] text-caution">required</span>}
          </dt>
          <dd className="grid gap-1 pt-1 wrap-anywhere">
            {field.description !== undefined && (
              <p>
                <Prose text={field.description} />
              </p>
            )}
            <Facts field={field} />
            {field.fields.length > 0 && (
              <details>
                <summary>
                  Fields of <code>{field.name}</code>
                </summary>
                <Fields fields={field.fields} />
              </details>
            )}
          </dd>
        </div>
      ))}
    </dl>
  );
}
