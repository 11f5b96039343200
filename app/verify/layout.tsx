/** The page belongs to the documentation. */
export { default } from "#app/docs/layout.tsx";
