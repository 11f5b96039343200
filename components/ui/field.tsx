import { TriangleAlert } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";

type Shared = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Stands before the value, as a part of it that is given. */
  readonly prefix?: string;
};

export const FieldError = ({ id, children }: { readonly id?: string; readonly children: ReactNode }) => (
  <p className="error" id={id}>
    <TriangleAlert className="icon" aria-hidden />
    {children}
  </p>
);

/** Label, control, hint and error, wired once: the error is announced with the control it belongs to. */
export function Field({ label, hint, error, prefix, ...input }: Shared & Omit<ComponentProps<"input">, "id" | "prefix">) {
  const id = useId();
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(" ");
  const control = (
    <input
      type="text"
      {...input}
      id={id}
      {...(described !== "" && { "aria-describedby": described })}
      {...(error !== undefined && { "aria-invalid": true })}
    />
  );
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {prefix === undefined ? (
        control
      ) : (
        <div className="affix">
          <span className="pre">{prefix}</span>
          {control}
        </div>
      )}
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
      {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
    </div>
  );
}

export function TextArea({ label, hint, ...area }: Omit<Shared, "error" | "prefix"> & Omit<ComponentProps<"textarea">, "id">) {
  const id = useId();
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <textarea {...area} id={id} {...(hint !== undefined && { "aria-describedby": `${id}-hint` })} />
      {hint !== undefined && (
        <p className="hint" id={`${id}-hint`}>
          {hint}
        </p>
      )}
    </div>
  );
}
