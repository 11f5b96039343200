"use client";

import { type FormEvent, useState } from "react";
import { announce } from "#components/ui/announcements.tsx";
import { Button } from "#components/ui/button.tsx";
import { Choice } from "#components/ui/choice.tsx";
import { Field, FieldError, TextArea } from "#components/ui/field.tsx";
import { formText } from "#components/ui/form-text.ts";
import { useOperation } from "#components/ui/operation.ts";
import { Scripted } from "#components/ui/scripted.tsx";
import { ExchangeLog } from "./exchange-log.tsx";
import { exchange, type ExchangeRequest } from "./exchange.ts";
import { PATH_VALUE } from "./path-value.ts";

export type Parameter = {
  readonly name: string;
  readonly in: "path" | "query";
  readonly required: boolean;
  readonly example: string | undefined;
};

type Props = {
  readonly method: string;
  readonly path: string;
  readonly parameters: readonly Parameter[];
  /** The initial text of the JSON field; null if the operation has no body. */
  readonly body: string | null;
  readonly credentials: readonly ("apiKey" | "session" | "stripeSignature")[];
  readonly signedIn: boolean;
};

function readForm({ method, path, parameters, body }: Props, form: FormData): ExchangeRequest {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, in: place } of parameters) {
    const value = formText(form, `${place}.${name}`).trim();
    if (place === "path") filled = filled.replace(`{${name}}`, encodeURIComponent(value));
    else if (value !== "") query.set(name, value);
  }
  const apiKey = formText(form, "apiKey").trim();
  return {
    method,
    path: `${filled}${query.size > 0 ? `?${query}` : ""}` as ExchangeRequest["path"],
    body: body === null ? (method === "GET" ? null : "{}") : formText(form, "body"),
    ...(form.get("credential") === "apiKey" && { apiKey }),
  };
}

function Credential({ credentials, signedIn }: Pick<Props, "credentials" | "signedIn">) {
  const keys = credentials.includes("apiKey");
  const [chosen, setChosen] = useState(signedIn || !keys ? "session" : "apiKey");
  if (credentials.length === 0) return null;
  return (
    <fieldset className="grid gap-3">
      <legend className="label">Credential</legend>
      <Choice
        type="radio"
        name="credential"
        value="session"
        checked={chosen === "session"}
        disabled={!signedIn}
        onChange={() => setChosen("session")}
      >
        Your session
        {!signedIn && <span>You are not signed in.</span>}
      </Choice>
      {keys && (
        <Choice type="radio" name="credential" value="apiKey" checked={chosen === "apiKey"} onChange={() => setChosen("apiKey")}>
          An API key
        </Choice>
      )}
      {keys && chosen === "apiKey" && (
        <Field
          label="API key"
          name="apiKey"
          type="password"
          autoComplete="off"
          spellCheck={false}
          required
          placeholder="csk_…"
          hint="It is sent only to this service, with this request, and is not stored."
        />
      )}
    </fieldset>
  );
}

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

export function TryOperation(props: Props) {
  const { method, parameters, body, credentials, signedIn } = props;
  const [bodyError, setBodyError] = useState<string>();
  const { send, busy, error, data } = useOperation(exchange, {
    done: ({ status }) => announce(`Answered ${status}`),
    refresh: "never",
  });
  const submit = (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const asked = readForm(props, new FormData(event.currentTarget));
    const readable = asked.body === null || isJson(asked.body);
    setBodyError(readable ? undefined : "This is not JSON.");
    if (readable) send(asked);
  };
  return (
    <form className="grid grid-cols-1 gap-4" method="post" onSubmit={submit}>
      <Scripted>
        <Credential credentials={credentials} signedIn={signedIn} />
      </Scripted>
      {parameters.map(({ name, in: place, required, example }) => (
        <Field
          key={name}
          label={name}
          name={`${place}.${name}`}
          className="mono"
          autoComplete="off"
          spellCheck={false}
          required={required}
          placeholder={example}
          {...(place === "path" && { pattern: PATH_VALUE, title: "The value cannot be . or .." })}
          hint={place === "path" ? "In the path" : required ? "In the query" : "In the query; may be left out"}
        />
      ))}
      {body !== null && (
        <TextArea
          label="Body"
          name="body"
          className="mono"
          rows={Math.min(18, body.split("\n").length + 1)}
          spellCheck={false}
          defaultValue={body}
          error={bodyError}
        />
      )}
      <div className="actions">
        <Button tone="primary" type="submit" aria-busy={busy}>
          Send {method} in the sandbox
        </Button>
      </div>
      {error && <FieldError>We could not reach the service. Try again.</FieldError>}
      {data && <ExchangeLog exchanges={[data]} />}
    </form>
  );
}
