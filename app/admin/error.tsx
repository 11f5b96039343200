"use client";

export { FailureInFrame as default } from "#components/shell/failure.tsx";
