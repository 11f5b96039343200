import { TriangleAlert } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";

type Texts = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** A fixed part of the value, shown before it. */
  readonly prefix?: string;
  /** The unit, shown after the value. */
  readonly suffix?: string;
};

export const FieldError = ({ id, children }: { readonly id?: string; readonly children: ReactNode }) => (
  <p className="error" id={id}>
    <TriangleAlert className="icon" aria-hidden />
    {children}
  </p>
);

/** The attributes that connect a control to its hint and its error. */
const wiring = (id: string, hint: ReactNode, error: string | undefined) => {
  const described = [hint !== undefined && `${id}-hint`, error !== undefined && `${id}-error`].filter(Boolean).join(" ");
  return {
    id,
    ...(described !== "" && { "aria-describedby": described }),
    ...(error !== undefined && { "aria-invalid": true }),
  };
};

type FrameProps = Pick<Texts, "label" | "hint" | "error"> & { readonly id: string; readonly children: ReactNode };

const Frame = ({ id, label, hint, error, children }: FrameProps) => (
  <div className="field">
    <label htmlFor={id}>{label}</label>
    {children}
    {hint !== undefined && (
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
    )}
    {error !== undefined && <FieldError id={`${id}-error`}>{error}</FieldError>}
  </div>
);

/** A control with label, hint and error. A screen reader reads the error with the control. */
export function Field({ label, hint, error, prefix, suffix, ...input }: Texts & Omit<ComponentProps<"input">, "id" | "prefix">) {
  const id = useId();
  const control = <input type="text" {...input} {...wiring(id, hint, error)} />;
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      {prefix === undefined && suffix === undefined ? (
        control
      ) : (
        <div className="affix">
          {prefix !== undefined && <span className="pre">{prefix}</span>}
          {control}
          {suffix !== undefined && <span>{suffix}</span>}
        </div>
      )}
    </Frame>
  );
}

export function TextArea({
  label,
  hint,
  error,
  ...area
}: Omit<Texts, "prefix" | "suffix"> & Omit<ComponentProps<"textarea">, "id">) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <textarea {...area} {...wiring(id, hint, error)} />
    </Frame>
  );
}

type SelectProps = Omit<Texts, "prefix" | "suffix"> & {
  readonly options: readonly (readonly [value: string, text: string])[];
} & Omit<ComponentProps<"select">, "id" | "children">;

/** A native select, because it works with every keyboard and screen reader. */
export function Select({ label, hint, error, options, ...select }: SelectProps) {
  const id = useId();
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      <select {...select} {...wiring(id, hint, error)}>
        {options.map(([value, text]) => (
          <option key={value} value={value}>
            {text}
          </option>
        ))}
      </select>
    </Frame>
  );
}
