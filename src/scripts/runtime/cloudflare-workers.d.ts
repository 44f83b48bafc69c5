/** What the worker of the platform uses of the runtime's own module. */
declare module "cloudflare:workers" {
  // oxlint-disable-next-line no-unnecessary-type-parameters -- as the runtime has it
  export class WorkerEntrypoint<Env, Props = unknown> {
    readonly env: Env;
    readonly ctx: { readonly props: Props };
  }
}
