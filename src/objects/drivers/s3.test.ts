import { after } from "node:test";
import { S3_KEY, S3Server } from "../../../test/support/s3-server.ts";
import { blobDriverContract } from "../driver.contract.ts";
import { parseS3Url } from "./s3-location.ts";
import { openS3 } from "./s3.ts";

const server = await S3Server.start();
after(() => server[Symbol.asyncDispose]());

const optionsOf = (prefix: string) => ({
  location: parseS3Url(`s3://${server.bucket}/${prefix}?endpoint=${server.endpoint}`),
  key: S3_KEY,
  now: Date.now,
  sleep: async () => {},
  random: () => 0,
});

blobDriverContract("s3", () => openS3(optionsOf("some/prefix")), {
  readsDeleted: false,
  keepsInMemory: false,
});
