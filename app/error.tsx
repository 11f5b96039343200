"use client";

export { FailureAlone as default } from "#components/shell/failure.tsx";
