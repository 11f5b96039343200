"use client";

import { Plus } from "lucide-react";
import { useState } from "react";
import { Field, Select, TextArea } from "#components/ui/field.tsx";
import { FormDialog, useFormDialog } from "#components/ui/form-dialog.tsx";
import { presets } from "./client-commands.ts";

const opener = (
  <>
    <Plus className="icon" aria-hidden />
    Register a program
  </>
);

const lines = (text: string | readonly string[]): string[] =>
  (typeof text === "string" ? text : text.join("\n"))
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");

const options = [["", "Another program"] as const, ...presets.map(({ name }) => [name, name] as const)];

export function NewClient() {
  const [preset, setPreset] = useState("");
  const dialog = useFormDialog(() => import("#lib/identity/oauth/contract.ts").then((contract) => contract.createAgentClient), {
    defaults: { name: "", redirectUris: [] },
  });
  const fill = (name: string) => {
    setPreset(name);
    const found = presets.find((one) => one.name === name);
    dialog.state.form.setValue("name", found?.name ?? "");
    dialog.state.form.setValue("redirectUris", [...(found?.redirectUris ?? [])]);
  };
  const change = (open: boolean) => {
    setPreset("");
    dialog.onOpenChange(open);
  };
  return (
    <FormDialog
      {...dialog}
      onOpenChange={change}
      trigger={opener}
      look={{ tone: "primary" }}
      title="Register a program"
      nothing="Nothing was registered."
      submit="Register"
    >
      <Select label="Program" options={options} value={preset} onChange={(event) => fill(event.target.value)} />
      <Field
        label="Name"
        autoComplete="off"
        maxLength={100}
        hint="People see it when they connect the program."
        {...dialog.state.field("name")}
      />
      <TextArea
        label="Redirect addresses"
        rows={3}
        spellCheck={false}
        hint="One per line, exactly as the program sends them. For an address on this device, any port is accepted."
        {...dialog.state.field("redirectUris", { setValueAs: lines })}
      />
    </FormDialog>
  );
}
