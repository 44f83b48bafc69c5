/**
 * A small photo shelf on an embedded store: no server, one folder. Run it with
 * `node examples/store/main.ts [FOLDER]`; without a folder it uses one of its own and removes it.
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type StoreBucket } from "selvedge/store";

const [given] = process.argv.slice(2);
const data = given ?? (await mkdtemp(join(tmpdir(), "selvedge-example-")));
const store = await openStore({ data });
try {
  const known = (await store.buckets()).some(({ name }) => name === "photos");
  const photos = known ? store.bucket("photos") : await store.createBucket("photos");
  await putAndGet(photos);
  await putOnlyIf(photos);
  await listFolders(photos);
  await uploadInParts(photos);
} finally {
  await store.close();
  if (given === undefined) await rm(data, { recursive: true });
}

async function putAndGet(bucket: StoreBucket): Promise<void> {
  const put = await bucket.put("2026/spring/tulip.txt", "a red tulip", {
    httpMetadata: { contentType: "text/plain" },
    customMetadata: { camera: "a pencil" },
  });
  console.log(`put ${put.key}: ${put.size} bytes, etag ${put.etag}`);
  const got = await bucket.get(put.key, { range: { offset: 2, length: 3 } });
  console.log(`get ${put.key}, 3 bytes from 2: "${await got?.text()}"`);
}

/** Two writers may race; the condition and the write are one, so one of them wins. */
async function putOnlyIf(bucket: StoreBucket): Promise<void> {
  const before = await bucket.put("cover.txt", "first cover");
  const onlyIf = { etagMatches: before.etag };
  const tries = await Promise.all(
    ["second cover", "another second cover"].map((text) =>
      bucket.put("cover.txt", text, { onlyIf }),
    ),
  );
  const won = tries.filter((object) => object !== null).length;
  console.log(`conditional put of cover.txt: ${won} of ${tries.length} writers won`);
}

async function listFolders(bucket: StoreBucket): Promise<void> {
  await bucket.put("2026/autumn/leaf.txt", "a brown leaf");
  const { objects, delimitedPrefixes } = await bucket.list({ prefix: "2026/", delimiter: "/" });
  console.log(`folders of 2026/: ${delimitedPrefixes.join(", ")}; ${objects.length} objects`);
}

async function uploadInParts(bucket: StoreBucket): Promise<void> {
  const upload = await bucket.createMultipartUpload("film.bin");
  const sizes = [5 * 1024 ** 2, 5 * 1024 ** 2, 1000];
  const parts = await Promise.all(
    sizes.map((size, i) => upload.uploadPart(i + 1, new Uint8Array(size).fill(i))),
  );
  const film = await upload.complete(parts);
  console.log(`multipart ${film.key}: ${film.size} bytes of ${parts.length} parts, ${film.etag}`);
}
