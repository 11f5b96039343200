import { TriangleAlert } from "lucide-react";
import { type ComponentProps, type ReactNode, useId } from "react";

type Texts = {
  readonly label: string;
  readonly hint?: ReactNode;
  readonly error?: string | undefined;
  /** Fixed text that is shown before the value and is not part of it: "pay.example.com/". */
  readonly prefix?: string;
  readonly suffix?: string;
};

export const FieldError = ({ id, children }: { readonly id?: string; readonly children: ReactNode }) => (
  <p className="error" id={id}>
    <TriangleAlert className="icon" aria-hidden />
    {children}
  </p>
);

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

const AFFIX = "flex items-center border border-border-strong bg-sunken px-3 text-sm whitespace-nowrap text-muted";
const JOINED = { before: "w-16 min-w-0 flex-auto rounded-r-none", after: "w-16 min-w-0 flex-auto rounded-l-none" } as const;

const FILE_BUTTON =
  "w-full text-sm file:mr-3 file:min-h-10 file:cursor-pointer file:rounded-sm file:border file:border-solid file:border-border-strong file:bg-surface file:px-3 file:text-text";

export function Field({
  label,
  hint,
  error,
  prefix,
  suffix,
  className,
  ...input
}: Texts & Omit<ComponentProps<"input">, "id" | "prefix">) {
  const id = useId();
  const joined = prefix !== undefined ? JOINED.after : suffix !== undefined ? JOINED.before : undefined;
  const control = (
    <input
      type="text"
      {...input}
      className={[joined, input.type === "file" && FILE_BUTTON, className].filter(Boolean).join(" ") || undefined}
      {...wiring(id, hint, error)}
    />
  );
  return (
    <Frame id={id} label={label} hint={hint} error={error}>
      {prefix === undefined && suffix === undefined ? (
        control
      ) : (
        <div className="flex min-w-0 items-stretch">
          {prefix !== undefined && (
            <span className={`rounded-l-sm border-r-0 max-md:px-2 max-md:text-xs ${AFFIX}`}>{prefix}</span>
          )}
          {control}
          {suffix !== undefined && <span className={`rounded-r-sm border-l-0 ${AFFIX}`}>{suffix}</span>}
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
