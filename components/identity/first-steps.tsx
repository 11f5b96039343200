const later = [
  ["Create a key", "For your first agent"],
  ["Create a mandate", "What the agent may spend"],
  ["First authorization", "The agent asks, the service decides"],
] as const;

export function FirstSteps({ email }: { readonly email: string }) {
  return (
    <section className="panel" aria-labelledby="first-steps">
      <div className="panel-head">
        <h2 id="first-steps">First steps</h2>
      </div>
      <ol className="timeline p-5">
        <li data-state="done">
          <h3>Create an account</h3>
          <p className="wrap-anywhere">{email}</p>
        </li>
        <li data-state="now">
          <h3>Create your organization</h3>
          <p>You are here</p>
        </li>
        {later.map(([title, text]) => (
          <li key={title}>
            <h3>{title}</h3>
            <p>{text}</p>
          </li>
        ))}
      </ol>
    </section>
  );
}
