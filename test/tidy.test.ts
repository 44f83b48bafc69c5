/** Holds the shape of the tree: tiers, fronts, and what a source file may hold. */
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { suite, test } from "node:test";
import { fileURLToPath } from "node:url";

const SRC = fileURLToPath(new URL("../src", import.meta.url));

/** From the ground up. A part imports parts of lower tiers; never of its own or a higher one. */
const TIERS = [
  ["kit"],
  ["dns", "http", "db"],
  ["accounts", "zones", "objects", "scripts", "certificates"],
  ["nameserver", "api", "s3", "binding", "edge"],
  ["cli"],
] as const;

/** Longer than this there are usually two files in one. */
const MAX_LINES = 300;

interface Source {
  /** Relative to `src`: `db/sqlite.ts`. */
  readonly path: string;
  readonly text: string;
}

/** Every way in which the sources break a rule, a sentence each. */
export function untidiness(sources: readonly Source[]): string[] {
  return sources.flatMap(({ path, text }) => [
    ...importsOf(text).flatMap((specifier) => importFault(path, specifier)),
    ...(path.includes(".test.") || path.includes(".contract.") ? [] : sourceFaults(path, text)),
  ]);
}

function importFault(path: string, specifier: string): string[] {
  const part = partOf(path);
  const target = targetOf(path, specifier);
  if (target === null || part === null) return []; // A package, or a root file, which may know all.
  const isTest = path.includes(".test.") || path.includes(".contract.");
  if (target.startsWith("../")) {
    return isTest ? [] : [`${path} reaches outside src: ${specifier}`];
  }
  const targetPart = partOf(target);
  if (targetPart === part) {
    return specifier.startsWith("#") ? [`${path} imports its own part by name: ${specifier}`] : [];
  }
  if (targetPart === null) return [`${path} imports a root file: ${specifier}`];
  if (!specifier.startsWith("#")) {
    return [`${path} imports another part by path, not by name: ${specifier}`];
  }
  if (tierOf(targetPart) >= tierOf(part)) {
    return [`${path} (tier ${part}) must not import ${targetPart}: ${specifier}`];
  }
  return [];
}

function sourceFaults(path: string, text: string): string[] {
  const lines = text.split("\n");
  return [
    ...(text.startsWith("/**")
      ? []
      : [`${path} does not open with a comment that says what it is`]),
    ...(lines.length > MAX_LINES
      ? [`${path} has ${lines.length} lines; ${MAX_LINES} are the limit`]
      : []),
    ...(/\b(?:enum|namespace) \w+ \{/.test(text)
      ? [`${path} uses syntax that does not erase`]
      : []),
  ];
}

function importsOf(text: string): string[] {
  const pattern = /(?:from|import)\s*\(?\s*"([^"]+)"/g;
  return [...text.matchAll(pattern)].map((match) => match[1]!);
}

/** The file that a specifier leads to, relative to `src`; null for packages. */
function targetOf(path: string, specifier: string): string | null {
  if (specifier.startsWith("#kit/")) return specifier.slice(1);
  if (specifier.startsWith("#")) return `${specifier.slice(1)}/index.ts`;
  if (specifier.startsWith(".")) return join(dirname(path), specifier);
  return null;
}

function partOf(path: string): string | null {
  return path.includes("/") ? path.split("/")[0]! : null;
}

function tierOf(part: string): number {
  const tier = TIERS.findIndex((parts) => (parts as readonly string[]).includes(part));
  assert.notEqual(tier, -1, `src/${part} is in no tier; add it to TIERS`);
  return tier;
}

function readSources(): Source[] {
  return readdirSync(SRC, { recursive: true, encoding: "utf8" })
    .filter((path) => path.endsWith(".ts"))
    .map((path) => ({ path, text: readFileSync(join(SRC, path), "utf8") }));
}

test("the sources keep the tiers and the habits of the house", () => {
  const sources = readSources();
  assert.ok(sources.length > 20, "the sources were not found");
  assert.deepEqual(untidiness(sources), []);
});

suite("the tidy test fails when", () => {
  const cases: [name: string, path: string, line: string][] = [
    ["a core imports a door", "accounts/x.ts", 'import { a } from "#api";'],
    ["a core imports its sibling", "accounts/x.ts", 'import type { Z } from "#zones";'],
    ["a protocol imports a core", "db/x.ts", 'import { a } from "#accounts";'],
    ["kit imports anything", "kit/x.ts", 'import { a } from "#db";'],
    ["a part is imported by path", "api/x.ts", 'import { a } from "../accounts/tokens.ts";'],
    ["a part is loaded by path later", "api/x.ts", 'const a = await import("../db/open.ts");'],
    ["a part imports the root", "api/users/x.ts", 'import { Config } from "../../config.ts";'],
    ["a part imports its own front", "db/x.ts", 'import { a } from "#db";'],
    ["a source reaches into the tests", "db/x.ts", 'import { a } from "../../test/support/a.ts";'],
  ];
  for (const [name, path, line] of cases) {
    test(name, () => {
      assert.equal(untidiness([{ path, text: `/** A file. */\n${line}\n` }]).length, 1);
    });
  }
  test("a file has no opening comment", () => {
    assert.equal(untidiness([{ path: "kit/x.ts", text: "export const a = 1;\n" }]).length, 1);
  });
});
