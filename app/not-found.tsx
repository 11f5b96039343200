export const metadata = { title: "Not found" };

export default function NotFoundPage() {
  return (
    <main>
      <h1>There is no page here</h1>
      <p>
        The address may be misspelled, or the page may have moved. <a href="/">Go to the start page</a>.
      </p>
    </main>
  );
}
