/** A real server with its S3 door, and what clients need to reach it. */
import { startServer, type ServerOptions, type TestServer } from "./server.ts";

export const ACCESS_KEY_ID = "SELVEDGETESTKEY00001";
export const SECRET_ACCESS_KEY = "secret/of+the=tests/0123456789abcdefghij";
export const REGION = "us-east-1";

export interface S3TestServer extends TestServer {
  /** `http://127.0.0.1:PORT`. */
  readonly endpoint: string;
}

let threads = 0;

/** From now on every server that starts has its S3 door on so many threads. */
export function serveS3OnThreads(many: number): void {
  threads = many;
}

export async function startS3(options: ServerOptions = {}): Promise<S3TestServer> {
  const server = await startServer({
    ...options,
    env: {
      SELVEDGE_BOOTSTRAP_S3_ACCESS_KEY_ID: ACCESS_KEY_ID,
      SELVEDGE_BOOTSTRAP_S3_SECRET_ACCESS_KEY: SECRET_ACCESS_KEY,
      SELVEDGE_S3_THREADS: String(threads),
      ...options.env,
    },
  });
  return { ...server, endpoint: server.ready["s3"]! };
}
