/** The inside of a load process: takes jobs from the process that forked it and sends back results. */

/** What goes back for a job. */
export type LoadReply<Result> = { readonly result: Result } | { readonly error: string };

/** Answers a job at a time until the parent is gone. */
export function serveJobs<Job, Result>(run: Run<Job, Result>): void {
  const send = (reply: LoadReply<Result>) => process.send!(reply);
  process.on("message", (job: Job) => {
    void run(job).then(
      (result) => send({ result }),
      (error: Error) => send({ error: error.message }),
    );
  });
  process.on("disconnect", () => process.exit());
}

type Run<Job, Result> = (job: Job) => Promise<Result>;
