import type { SchemaField } from "#lib/pages/schema-fields.ts";
import { Prose } from "./prose.tsx";

const VALUES_SHOWN = 24;

function Facts({ field: { values, notes } }: { readonly field: SchemaField }) {
  const shown = values.slice(0, VALUES_SHOWN);
  return (
    <>
      {shown.length > 0 && (
        <p className="xsmall muted">
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
      {notes.length > 0 && <p className="xsmall muted wrap-anywhere">{notes.join("; ")}</p>}
    </>
  );
}

/** Fields of a schema. Nested fields can be collapsed. */
export function Fields({ fields }: { readonly fields: readonly SchemaField[] }) {
  return (
    <dl className="api-fields">
      {fields.map((field) => (
        <div key={field.name}>
          <dt>
            <code>{field.name}</code> <span className="muted">{field.type}</span>
            {field.required && <span className="need">required</span>}
          </dt>
          <dd>
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
