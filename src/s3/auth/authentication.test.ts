import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { mintTemporary, type OpenS3Key } from "#accounts";
import {
  ALGORITHM,
  basicTime,
  canonicalRequest,
  EMPTY_PAYLOAD_HASH,
  escapePairs,
  escapePath,
  sign,
  signingKey,
  signRequest,
  stringToSign,
} from "#kit/sigv4.ts";
import { S3Fault } from "../fault.ts";
import { Authentication } from "./authentication.ts";
import type { SignedRequest } from "./request.ts";

const KEY: OpenS3Key = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
  accountId: "a".repeat(32),
  name: "example",
  permission: "admin",
  buckets: null,
  operations: null,
  expiresAt: null,
  createdAt: 0,
  lastUsedAt: null,
};
const HOST = "examplebucket.s3.amazonaws.com";
const THEN = Date.UTC(2013, 4, 24);

function doorAt(now: number, key: OpenS3Key | null = KEY) {
  const used: OpenS3Key[] = [];
  const authentication = new Authentication({
    find: async (id) => (id === key?.accessKeyId ? key : null),
    onUse: (one) => used.push(one),
    now: () => now,
  });
  return {
    used,
    authenticate: async (request: SignedRequest) => authentication.authenticate(request),
  };
}

const { authenticate } = doorAt(THEN);

const isFault =
  (code: string, pattern = /(?:)/) =>
  (error: unknown) => {
    assert(error instanceof S3Fault, String(error));
    assert.equal(error.code, code, error.message);
    assert.match(`${error.message} ${JSON.stringify(error.extra)}`, pattern);
    return true;
  };

interface Wish {
  readonly method?: string;
  readonly path?: string;
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly region?: string;
  readonly at?: number;
  readonly key?: OpenS3Key & { sessionToken?: string };
}

/** A request signed in its header, as a client that does all right sends it. */
function signed(wish: Wish = {}): SignedRequest & { headers: Record<string, string> } {
  const { method = "GET", path = "/", query = {}, region = "us-east-1", at = THEN } = wish;
  const { accessKeyId: id, secretAccessKey: secret } = wish.key ?? KEY;
  const sessionToken = wish.key?.sessionToken;
  const headers = signRequest(
    {
      method,
      path,
      query,
      headers: { host: HOST, ...wish.headers },
      payloadHash: EMPTY_PAYLOAD_HASH,
    },
    {
      key: { id, secret, ...(sessionToken !== undefined && { sessionToken }) },
      region,
      service: "s3",
      now: at,
    },
  );
  return { method, rawPath: path, query: Object.entries(query), headers, hosts: [HOST] };
}

/** A request signed in its query. */
function presigned(
  change: Record<string, string> = {},
  { headers = {}, method = "GET", path = "/test.txt" }: Wish = {},
): SignedRequest {
  const time = change["X-Amz-Date"] ?? basicTime(THEN);
  const scope = `${time.slice(0, 8)}/us-east-1/s3/aws4_request`;
  const all: Record<string, string> = { host: HOST, ...headers };
  const names = Object.keys(all).sort();
  const query = {
    "X-Amz-Algorithm": ALGORITHM,
    "X-Amz-Credential": `${KEY.accessKeyId}/${scope}`,
    "X-Amz-Date": time,
    "X-Amz-Expires": "86400",
    "X-Amz-SignedHeaders": names.join(";"),
    ...change,
  };
  const canonical = canonicalRequest({
    method,
    path,
    query: escapePairs(Object.entries(query)),
    headers: names.map((name) => [name, all[name]!]),
    payloadHash: change["X-Amz-Content-Sha256"] ?? "UNSIGNED-PAYLOAD",
  });
  const key = signingKey(KEY.secretAccessKey, time.slice(0, 8), "us-east-1", "s3");
  const signature = sign(key, stringToSign(time, scope, Buffer.from(canonical)));
  const pairs = Object.entries({ ...query, "X-Amz-Signature": signature });
  return { method, rawPath: path, query: pairs, headers: all, hosts: [HOST] };
}

suite("a signature in the header", () => {
  /** The worked examples of the S3 API Reference. */
  test("of the published example is that of its key", async () => {
    const request = {
      method: "GET",
      rawPath: "/test.txt",
      query: [],
      hosts: [HOST],
      headers: {
        host: HOST,
        range: "bytes=0-9",
        "x-amz-content-sha256": EMPTY_PAYLOAD_HASH,
        "x-amz-date": "20130524T000000Z",
        authorization:
          "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request," +
          "SignedHeaders=host;range;x-amz-content-sha256;x-amz-date," +
          "Signature=f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41",
      },
    };
    const { used, authenticate: ask } = doorAt(THEN);
    const { caller, payload } = await ask(request);
    assert.equal(caller?.accessKeyId, KEY.accessKeyId);
    assert.equal(payload.sha256, EMPTY_PAYLOAD_HASH);
    assert.deepEqual(used, [KEY]);
  });

  test("holds in any region, also in none", async () => {
    for (const region of ["auto", "us-east-1", "US", ""]) {
      assert.notEqual((await authenticate(signed({ region }))).caller, null, region);
    }
  });

  test("holds for a path however it was escaped on the way", async () => {
    const path = escapePath("/a b/(c)+é/..//d");
    const request = signed({ path });
    for (const rawPath of [path, "/a%20b/(c)+%c3%a9/..//d", path.replace("%2B", "+")]) {
      assert.notEqual((await authenticate({ ...request, rawPath })).caller, null, rawPath);
    }
    const asSent = "/a%20b/(c)*";
    assert.notEqual((await authenticate(signed({ path: asSent }))).caller, null, asSent);
  });

  test("holds for any of the hosts that the client may have meant", async () => {
    const request = signed();
    const { caller } = await authenticate({ ...request, hosts: ["proxy:9000", HOST] });
    assert.notEqual(caller, null);
    const others = authenticate({ ...request, hosts: ["proxy:9000", "proxy"] });
    await assert.rejects(others, isFault("SignatureDoesNotMatch", /host:proxy:9000/));
  });

  test("holds for values of headers beyond ASCII, in either encoding", async () => {
    const request = signed({ headers: { "x-amz-meta-a": "é" } });
    assert.notEqual((await authenticate(request)).caller, null);
    const utf8 = { ...request.headers, "x-amz-meta-a": Buffer.from("é").toString("latin1") };
    assert.notEqual((await authenticate({ ...request, headers: utf8 })).caller, null);
  });

  test("holds with the Date header instead of x-amz-date", async () => {
    const date = new Date(THEN).toUTCString();
    const request = signed({ headers: { date } });
    const { "x-amz-date": _, authorization, ...headers } = request.headers;
    const names = Object.keys(headers).sort();
    const canonical = canonicalRequest({
      method: "GET",
      path: "/",
      query: "",
      headers: names.map((name) => [name, headers[name]!]),
      payloadHash: EMPTY_PAYLOAD_HASH,
    });
    const scope = "20130524/us-east-1/s3/aws4_request";
    const key = signingKey(KEY.secretAccessKey, "20130524", "us-east-1", "s3");
    const signature = sign(key, stringToSign("20130524T000000Z", scope, Buffer.from(canonical)));
    const shown = authorization!.replace(/SignedHeaders=.*/, "");
    const headersSent = {
      ...headers,
      authorization: `${shown}SignedHeaders=${names.join(";")}, Signature=${signature}`,
    };
    assert.notEqual((await authenticate({ ...request, headers: headersSent })).caller, null);
  });

  test("that does not fit is answered with what was built here, and never with the secret", async () => {
    const request = { ...signed(), method: "DELETE" };
    await assert.rejects(authenticate(request), (error: unknown) => {
      assert(isFault("SignatureDoesNotMatch")(error));
      const { extra } = error as S3Fault;
      assert.match(extra["CanonicalRequest"]!, /^DELETE\n\/\n\nhost:examplebucket/);
      assert.match(extra["StringToSign"]!, /^AWS4-HMAC-SHA256\n20130524T000000Z\n20130524/);
      assert.match(extra["StringToSignBytes"]!, /^41 57 53 34 2d/);
      assert.match(extra["CanonicalRequestBytes"]!, /^44 45 4c 45 54 45 0a/);
      assert.equal(extra["AWSAccessKeyId"], KEY.accessKeyId);
      assert(!JSON.stringify(extra).includes(KEY.secretAccessKey));
      return true;
    });
  });

  test("is needed for every header that S3 listens to, and for the host", async () => {
    const request = signed();
    const added = { ...request.headers, "x-amz-acl": "public-read" };
    await assert.rejects(
      authenticate({ ...request, headers: added }),
      isFault("AccessDenied", /not signed.*x-amz-acl/),
    );
    const cdn = { ...request.headers, "x-amz-cf-id": "added by a proxy" };
    assert.notEqual((await authenticate({ ...request, headers: cdn })).caller, null);
    const authorization = request.headers["authorization"]!.replace("host;", "");
    await assert.rejects(
      authenticate({ ...request, headers: { ...request.headers, authorization } }),
      isFault("AccessDenied", /"host"/),
    );
  });

  test("is refused when the clocks are more than fifteen minutes apart", async () => {
    const request = signed();
    const skewed = isFault("RequestTimeTooSkewed", /20130524T000000Z.*ServerTime/);
    for (const apart of [-900_001, 900_001]) {
      await assert.rejects(doorAt(THEN + apart).authenticate(request), skewed);
    }
    for (const apart of [-900_000, 900_000]) {
      assert.notEqual((await doorAt(THEN + apart).authenticate(request)).caller, null);
    }
  });

  test("of a key that is not there says so", async () => {
    const unknown = isFault("InvalidAccessKeyId", /AKIAIOSFODNN7EXAMPLE/);
    await assert.rejects(doorAt(THEN, null).authenticate(signed()), unknown);
  });

  const [shown] = [signed().headers["authorization"]!];
  const wrong: readonly (readonly [
    what: string,
    authorization: string,
    code: string,
    why: RegExp,
  ])[] = [
    ["version 2", "AWS AKIA:c2ln", "InvalidRequest", /Version 2.*AWS4-HMAC-SHA256/],
    ["version 4A", "AWS4-ECDSA-P256-SHA256 Credential=x", "InvalidRequest", /AWS4-HMAC-SHA256/],
    ["another scheme", "Bearer secret", "InvalidArgument", /Unsupported Authorization Type/],
    ["nothing", "", "InvalidArgument", /Unsupported/],
    ["the algorithm alone", ALGORITHM, "AuthorizationHeaderMalformed", /Credential/],
    [
      "another day",
      shown.replace("20130524/", "20130523/"),
      "AuthorizationHeaderMalformed",
      /date/,
    ],
    ["another service", shown.replace("/s3/", "/ec2/"), "AuthorizationHeaderMalformed", /"s3"/],
    [
      "another end",
      shown.replace("aws4_", "aws5_"),
      "AuthorizationHeaderMalformed",
      /aws4_request/,
    ],
    [
      "a region without end",
      shown.replace("us-east-1", "x".repeat(65)),
      "AuthorizationHeaderMalformed",
      /form/,
    ],
    [
      "no headers",
      shown.replace(/SignedHeaders=[^,]*, /, ""),
      "AuthorizationHeaderMalformed",
      /names/,
    ],
    ["a short signature", shown.slice(0, -1), "AuthorizationHeaderMalformed", /64 hex/],
    ["no signature", shown.replace(/, Signature.*/, ""), "AuthorizationHeaderMalformed", /64 hex/],
  ];
  for (const [what, authorization, code, why] of wrong) {
    test(`with ${what} is refused`, async () => {
      const request = signed();
      const headers = { ...request.headers, authorization };
      await assert.rejects(authenticate({ ...request, headers }), (error: unknown) => {
        assert(!JSON.stringify((error as S3Fault).extra).includes("secret"));
        return isFault(code, why)(error);
      });
    });
  }

  test("needs the hash of the payload beside it, and a time", async () => {
    const request = signed();
    const without = (name: string) => {
      const { [name]: _, ...headers } = request.headers;
      return authenticate({ ...request, headers });
    };
    await assert.rejects(
      without("x-amz-content-sha256"),
      isFault("InvalidRequest", /content-sha256/),
    );
    await assert.rejects(without("x-amz-date"), isFault("AccessDenied", /x-amz-date/));
  });

  test("may name headers that every object of the language has", async () => {
    const request = signed();
    for (const name of ["constructor", "__proto__"]) {
      const authorization = request.headers["authorization"]!.replace("host;", `${name};host;`);
      const headers = { ...request.headers, authorization };
      await assert.rejects(
        authenticate({ ...request, headers }),
        isFault("SignatureDoesNotMatch", new RegExp(`${name}:\\\\n`)),
      );
    }
  });

  test("for one key does not open another whose octets look like its characters", async () => {
    const request = signed({ path: escapePath("/b/Ã©") });
    const rawPath = `/b/${Buffer.from("é").toString("latin1")}`;
    await assert.rejects(authenticate({ ...request, rawPath }), isFault("SignatureDoesNotMatch"));
    const own = signed({ path: escapePath("/b/é") });
    assert.notEqual((await authenticate({ ...own, rawPath })).caller, null);
  });

  test("is needed for the header that has a bucket made", async () => {
    const request = signed();
    const headers = { ...request.headers, "cf-create-bucket-if-missing": "true" };
    await assert.rejects(
      authenticate({ ...request, headers }),
      isFault("AccessDenied", /not signed.*cf-create-bucket/),
    );
    const own = signed({ headers: { "cf-create-bucket-if-missing": "true" } });
    assert.notEqual((await authenticate(own)).caller, null);
  });

  test("any part of which is damaged proves nothing, and never fails otherwise", async () => {
    const request = signed({ query: { prefix: "a" }, headers: { "x-amz-meta-a": "b" } });
    const { authorization } = request.headers;
    for (let at = 0; at < authorization!.length; at++) {
      for (const damaged of [
        authorization!.slice(0, at) + authorization!.slice(at + 1),
        `${authorization!.slice(0, at)}~${authorization!.slice(at + 1)}`,
      ]) {
        // Blanks and commas may come and go.
        if (damaged.replaceAll(/[ ,]/g, "") === authorization!.replaceAll(/[ ,]/g, "")) continue;
        const headers = { ...request.headers, authorization: damaged };
        await assert.rejects(authenticate({ ...request, headers }), (error) => {
          return error instanceof S3Fault && error.status < 500;
        });
      }
    }
  });
});

suite("a presigned URL", () => {
  /** "Authenticating Requests: Using Query Parameters" in the S3 API Reference. */
  test("of the published example is that of its key", async () => {
    const request = presigned();
    assert.deepEqual(request.query.at(-1), [
      "X-Amz-Signature",
      "aeeed9bbccd4d02ee5c0109b86d86835f995330da4c265957d157751f604d404",
    ]);
    const { caller, payload } = await authenticate(request);
    assert.equal(caller?.accessKeyId, KEY.accessKeyId);
    assert.equal(payload.sha256, "UNSIGNED-PAYLOAD");
    assert.deepEqual(payload.hoisted, []);
  });

  test("may say what its payload must be, and carry headers of S3", async () => {
    const request = presigned({
      "X-Amz-Content-Sha256": EMPTY_PAYLOAD_HASH,
      "X-Amz-Meta-A": "b",
      "x-id": "PutObject",
    });
    const { payload } = await authenticate(request);
    assert.equal(payload.sha256, EMPTY_PAYLOAD_HASH);
    assert.deepEqual(payload.hoisted, [["x-amz-meta-a", "b"]]);
  });

  test("may need headers, and is refused with others of S3", async () => {
    const request = presigned({}, { headers: { "x-amz-meta-a": "b", "content-type": "c" } });
    assert.notEqual((await authenticate(request)).caller, null);
    const other = { ...request.headers, "x-amz-meta-a": "other" };
    await assert.rejects(
      authenticate({ ...request, headers: other }),
      isFault("SignatureDoesNotMatch"),
    );
    const more = { ...request.headers, "x-amz-acl": "public-read" };
    await assert.rejects(authenticate({ ...request, headers: more }), isFault("AccessDenied"));
  });

  test("holds until it expires, and no longer", async () => {
    const request = presigned();
    const end = THEN + 86_400_000;
    assert.notEqual((await doorAt(end - 1).authenticate(request)).caller, null);
    await assert.rejects(
      doorAt(end).authenticate(request),
      isFault("AccessDenied", /Request has expired.*2013-05-25T00:00:00.000Z/),
    );
    const early = doorAt(THEN - 15 * 60_000 - 1).authenticate(request);
    await assert.rejects(early, isFault("AccessDenied", /not yet valid/));
  });

  test("that comes again is held against what holds then", async () => {
    let now = THEN;
    let key: OpenS3Key | null = KEY;
    let uses = 0;
    const door = new Authentication({ find: () => key, onUse: () => uses++, now: () => now });
    const ask = async (request: SignedRequest) => door.authenticate(request);
    const request = presigned();
    for (let i = 1; i <= 3; i++) {
      assert.equal((await ask(request)).caller?.accessKeyId, KEY.accessKeyId);
      assert.equal(uses, i);
    }
    now = THEN + 86_400_000;
    await assert.rejects(ask(request), isFault("AccessDenied", /Request has expired/));
    now = THEN - 15 * 60_000 - 1;
    await assert.rejects(ask(request), isFault("AccessDenied", /not yet valid/));
    now = THEN;
    key = null;
    await assert.rejects(ask(request), isFault("InvalidAccessKeyId"));
    key = { ...KEY, secretAccessKey: "another/secret" };
    await assert.rejects(ask(request), isFault("SignatureDoesNotMatch"));
    key = { ...KEY, permission: "read-only" };
    assert.equal((await ask(request)).caller?.may("write", "photos", "a"), false);
  });

  test("that comes again is refused like any other while keys cannot be read", async () => {
    let asked = 0;
    const find = async () => {
      if (++asked > 1) throw new Error("The database is away");
      return KEY;
    };
    const door = new Authentication({ find, onUse: () => {}, now: () => THEN });
    const request = presigned();
    await door.authenticate(request);
    await assert.rejects(async () => door.authenticate(request), /The database is away/);
    assert.equal(asked, 2);
  });

  for (const expires of ["0", "-1", "604801", "x", ""]) {
    test(`that would live "${expires}" seconds is refused`, async () => {
      const refused = authenticate(presigned({ "X-Amz-Expires": expires }));
      await assert.rejects(refused, isFault("AuthorizationQueryParametersError", /X-Amz-Expires/));
    });
  }

  for (const [name, value] of [
    ["X-Amz-Algorithm", "AWS4-HMAC-SHA1"],
    ["X-Amz-Credential", "AKIA"],
    ["X-Amz-Credential", "AKIA/20130523/us-east-1/s3/aws4_request"],
    ["X-Amz-Date", "2013-05-24"],
    ["X-Amz-Date", "20130230T000000Z"],
    ["X-Amz-SignedHeaders", "a b"],
  ] as const) {
    test(`with ${name} "${value}" is refused`, async () => {
      const refused = authenticate(presigned({ [name]: value }));
      await assert.rejects(refused, isFault("AuthorizationQueryParametersError"));
    });
  }

  test("of version 2, or beside a signed header, is refused", async () => {
    const query = [
      ["AWSAccessKeyId", "a"],
      ["Expires", "1"],
      ["Signature", "b"],
    ] as const;
    await assert.rejects(
      authenticate({ ...signed(), query, headers: { host: HOST } }),
      isFault("InvalidRequest", /Version 2/),
    );
    await assert.rejects(
      authenticate({ ...signed(), query: presigned().query }),
      isFault("InvalidArgument", /Only one auth mechanism/),
    );
  });
});

test("whoever shows nothing is nobody", async () => {
  const request = {
    method: "GET",
    rawPath: "/",
    query: [],
    headers: { host: HOST },
    hosts: [HOST],
  };
  assert.equal((await authenticate(request)).caller, null);
});

suite("temporary credentials", () => {
  const wish = { bucket: "photos", permission: "read-only", prefixes: [], objects: [] } as const;
  const minted = (parent: OpenS3Key = KEY) => {
    const made = mintTemporary(parent, { ...wish, ttlSeconds: 900 }, THEN);
    return { ...parent, ...made };
  };

  test("open what their token says, within what their key does", async () => {
    const { caller } = await authenticate(signed({ key: minted() }));
    assert.equal(caller?.accessKeyId, KEY.accessKeyId);
    assert.equal(caller.may("read", "photos", "a"), true);
    assert.equal(caller.may("write", "photos", "a"), false);
    assert.equal(caller.may("read", "others", "a"), false);
    const grant = { bucket: "photos", prefixes: ["2026/"], objects: [] };
    const narrow = { ...KEY, permission: "read-write", buckets: [grant] } as const;
    const within = await doorAt(THEN, narrow).authenticate(signed({ key: minted() }));
    assert.equal(within.caller?.may("read", "photos", "2026/a"), true);
    assert.equal(within.caller?.may("read", "photos", "2025/a"), false);
  });

  test("end when they say", async () => {
    const at = THEN + 900_000;
    const request = signed({ key: minted(), at });
    await assert.rejects(doorAt(at).authenticate(request), isFault("ExpiredToken"));
  });

  test("end with their key, and are worth nothing for another", async () => {
    const request = signed({ key: minted() });
    await assert.rejects(doorAt(THEN, null).authenticate(request), isFault("InvalidAccessKeyId"));
    const changed = { ...KEY, secretAccessKey: "another" };
    await assert.rejects(doorAt(THEN, changed).authenticate(request), isFault("InvalidToken"));
  });

  test("need the secret that belongs to the token", async () => {
    const request = signed({ key: { ...minted(), secretAccessKey: KEY.secretAccessKey } });
    await assert.rejects(authenticate(request), isFault("SignatureDoesNotMatch"));
  });

  for (const token of [
    "",
    "x",
    "anything/at.all.here",
    Buffer.from("jwt/a.b.c").toString("base64"),
  ]) {
    test(`with the token "${token}" are refused`, async () => {
      const request = signed({ key: { ...KEY, sessionToken: token } });
      await assert.rejects(authenticate(request), isFault("InvalidToken"));
    });
  }
});
