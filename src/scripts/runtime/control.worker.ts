/**
 * The platform's own worker in every script's process: tells that the process lives, hands it events that
 * are no requests, brings what was traced to the platform, and stands in for what is not there.
 */
import { WorkerEntrypoint } from "cloudflare:workers";

interface Env {
  readonly SCRIPT: {
    scheduled(event: { cron: string; scheduledTime: Date }): Promise<object>;
    queue(name: string, messages: readonly object[]): Promise<object>;
  };
  /** The platform's ear, where there is something to hear. */
  readonly TAIL?: { fetch(url: string, init: RequestInit): Promise<Response> };
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.method !== "POST") return new Response(null);
    const event = (await request.json()) as ScheduledEvent | QueueEvent;
    if ("queue" in event) {
      const messages = event.messages.map((message) => ({
        ...message,
        timestamp: new Date(message.timestamp),
      }));
      return Response.json(await env.SCRIPT.queue(event.queue, messages));
    }
    const { cron, scheduledTime } = event;
    const time = new Date(scheduledTime);
    return Response.json(await env.SCRIPT.scheduled({ cron, scheduledTime: time }));
  },
};

interface ScheduledEvent {
  readonly cron: string;
  readonly scheduledTime: number;
}

interface QueueEvent {
  readonly queue: string;
  readonly messages: readonly { readonly timestamp: number }[];
}

/** Takes what was traced of the script that its props name. */
export class Tail extends WorkerEntrypoint<Env, { scriptId: string }> {
  async tail(events: unknown): Promise<void> {
    const { scriptId } = this.ctx.props;
    const body = JSON.stringify({ scriptId, events });
    await this.env.TAIL!.fetch("http://platform/", { method: "POST", body });
  }
}

/** In place of a script, or an entrypoint of one, that was bound and is gone. */
export class Missing extends WorkerEntrypoint<Env, { what: string }> {
  fetch(): never {
    throw new Error(`There is no ${this.ctx.props.what}`);
  }
}

/** A cache that never holds anything, in the runtime's own protocol for caches. */
export class NoCache extends WorkerEntrypoint<Env> {
  async fetch(request: Request): Promise<Response> {
    if (request.method === "PUT") {
      await request.body?.cancel();
      return new Response(null, { status: 204 });
    }
    if (request.method === "PURGE") return new Response(null, { status: 404 });
    return new Response(null, { status: 504, headers: { "CF-Cache-Status": "MISS" } });
  }
}
