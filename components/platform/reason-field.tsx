import type { ComponentProps } from "react";
import { TextArea } from "#components/ui/field.tsx";
import { REASON_MIN } from "./role-words.ts";

export const ReasonField = (field: Omit<ComponentProps<typeof TextArea>, "label" | "hint" | "required" | "minLength">) => (
  <TextArea
    label="Reason"
    required
    minLength={REASON_MIN}
    hint={`At least ${REASON_MIN} characters. It is in the audit log with your name.`}
    {...field}
  />
);
