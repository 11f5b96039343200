/** This page has the frame of the documentation. */
export { default } from "#app/docs/layout.tsx";
