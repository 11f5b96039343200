/** The types of express that the examples need, instead of the package @types/express. */
declare module "express" {
  import type { IncomingMessage, RequestListener, ServerResponse } from "node:http";

  export type Request = IncomingMessage & { readonly body?: unknown };
  export type Response = ServerResponse & { json(body: unknown): void; status(code: number): Response };
  export type NextFunction = (error?: unknown) => void;
  export type Handler = (request: Request, response: Response, next: NextFunction) => unknown;

  type Application = RequestListener & {
    use(...handlers: Handler[]): Application;
    get(path: string, ...handlers: Handler[]): Application;
    post(path: string, ...handlers: Handler[]): Application;
  };

  export function json(options: { readonly limit: string }): Handler;

  export default function express(): Application;
}
