/** What the worker of the platform uses of the runtime's own module. */
declare module "cloudflare:workers" {
  export class WorkerEntrypoint<Env, Props = unknown> {
    readonly env: Env;
    readonly ctx: { readonly props: Props };
  }
}
