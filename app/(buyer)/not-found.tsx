export { metadata, NothingInFrame as default } from "#components/shell/nothing-here.tsx";
