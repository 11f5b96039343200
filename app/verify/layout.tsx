export { default } from "#app/docs/layout.tsx";
