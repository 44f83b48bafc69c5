/** The table of routes against one that looks at every route. */
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import fc from "fast-check";
import { assertQuick, cpuMsOf } from "../../test/support/patience.ts";
import {
  parseRoutePattern,
  printRoutePattern,
  type RoutePattern,
  type Scheme,
} from "./route-pattern.ts";
import { type Destination, RouteTable } from "./route-table.ts";

const ZONE = "x.y";

interface Url {
  readonly scheme: Scheme;
  readonly host: string;
  readonly path: string;
}

function matches(pattern: RoutePattern, { scheme, host, path }: Url): boolean {
  const isHost = pattern.anyHostBefore ? host.endsWith(pattern.host) : host === pattern.host;
  const isPath = pattern.anyPathAfter ? path.startsWith(pattern.path) : path === pattern.path;
  return isHost && isPath && (pattern.scheme ?? scheme) === scheme;
}

/** Less is more specific. */
function bySpecificity(a: RoutePattern, b: RoutePattern): number {
  return (
    Number(a.anyHostBefore) - Number(b.anyHostBefore) ||
    b.host.length - a.host.length ||
    Number(a.anyPathAfter) - Number(b.anyPathAfter) ||
    b.path.length - a.path.length ||
    Number(a.scheme === null) - Number(b.scheme === null)
  );
}

const scheme = fc.constantFrom<Scheme>("http", "https");
const host = fc.array(fc.constantFrom("a", "b", "."), { maxLength: 4 }).map((pieces) => {
  const before = pieces
    .join("")
    .replaceAll(/\.+/g, ".")
    .replace(/^\.|\.$/g, "");
  return before === "" ? ZONE : `${before}.${ZONE}`;
});
const path = fc
  .array(fc.constantFrom("a", "b", "/", "!"), { maxLength: 5 })
  .map((pieces) => `/${pieces.join("")}`);
const pattern = fc
  .record({
    scheme: fc.option(scheme, { nil: null }),
    star: fc.constantFrom("", "*", "*."),
    host,
    path,
    end: fc.constantFrom("", "*"),
  })
  .map((p) => `${p.scheme === null ? "" : `${p.scheme}://`}${p.star}${p.host}${p.path}${p.end}`);
const url: fc.Arbitrary<Url> = fc.record({ scheme, host, path });

test("a URL takes the route that looking at every one finds, whatever is set", () => {
  const changes = fc.array(
    fc.record({ pattern, destination: fc.constantFrom("set", "none"), url }),
    { maxLength: 30 },
  );
  fc.assert(
    fc.property(changes, (steps) => {
      const table = new RouteTable();
      const routes = new Map<string, { pattern: RoutePattern; destination: Destination }>();
      for (const [i, step] of steps.entries()) {
        const parsed = parseRoutePattern(step.pattern, ZONE);
        const key = printRoutePattern(parsed);
        const destination = step.destination === "none" ? "none" : { scriptId: `${i}` };
        table.set(parsed, destination);
        routes.set(key, { pattern: parsed, destination });
        const [best] = [...routes.values()]
          .filter((route) => matches(route.pattern, step.url))
          .toSorted((a, b) => bySpecificity(a.pattern, b.pattern));
        const { host, path, scheme } = step.url;
        assert.deepEqual(table.match(host, path, scheme), best?.destination ?? null);
      }
    }),
    { numRuns: 3_000 },
  );
});

const MATCHES = 20_000;
const [FEW, MANY] = [100, 10_000];
/** What larger tables cost by themselves; to look at each route would cost a hundred times as much. */
const TIMES = 20;

suite("a match takes among 10,000 routes what it takes among 100", () => {
  const cases: [kind: string, patternOf: (i: number) => string, urlOf: (i: number) => string[]][] =
    [
      ["on one hostname", (i) => `x.y/part-${i}/*`, (i) => ["x.y", `/part-${i}/page?query=${i}`]],
      ["of hostnames with *", (i) => `*.host-${i}.x.y/*`, (i) => [`www.host-${i}.x.y`, "/"]],
    ];
  for (const [kind, patternOf, urlOf] of cases) {
    const msAmong = (routes: number): number => {
      const table = new RouteTable();
      for (let i = 0; i < routes; i++) {
        table.set(parseRoutePattern(patternOf(i), ZONE), { scriptId: `${i}` });
      }
      const urls = Array.from({ length: FEW }, (_, i) => urlOf((i * routes) / FEW));
      let found = 0;
      const ms = cpuMsOf(() => {
        for (let i = 0; i < MATCHES; i++) {
          const [host, path] = urls[i % FEW] as [string, string];
          if (table.match(host, path, "https") !== null) found++;
        }
      });
      assert.equal(found, MATCHES);
      return ms;
    };

    test(kind, () => assertQuick(TIMES * msAmong(FEW), async () => msAmong(MANY)));
  }
});
