/** Debian packages that a test needs: installed when that is possible, asked for when it is not. */
import { spawnSync } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Debian's own, for which its packages are; another may come first on PATH. */
export const PYTHON = "/usr/bin/python3";

const APT_GET = "/usr/bin/apt-get";
const FLOCK = "/usr/bin/flock";
const DPKG_QUERY = "/usr/bin/dpkg-query";

/** A mirror that does not answer must not hold up the tests for good. */
const APT_TIMEOUT_MS = 10 * 60_000;

/** A person may be installing something: apt waits this long for its turn. */
const LOCK_SECONDS = 300;
/** Tests beside each other take turns, for apt has locks for which it does not wait. */
const TURN = join(tmpdir(), "selvedge-test-apt.lock");

/** Installs what is missing. Null when all is there; else what to type, and why it was not done. */
export function missingDebianPackages(names: readonly string[]): string | null {
  const missing = names.filter((name) => !isInstalled(name));
  if (missing.length === 0) return null;
  const ask = `This test needs Debian packages: apt-get install ${missing.join(" ")}`;
  if (process.getuid?.() !== 0) return `${ask} (as root, which this process is not)`;
  console.log(`Installing Debian packages for a test: ${missing.join(" ")}`);
  const fault = runApt("update") ?? runApt("install", "--no-install-recommends", ...missing);
  return fault === null ? null : `${ask} (tried in vain: ${fault})`;
}

function isInstalled(name: string): boolean {
  const { stdout } = spawnSync(DPKG_QUERY, ["--show", "--showformat=${db:Status-Status}", name], {
    encoding: "utf8",
  });
  return stdout === "installed"; // Null without dpkg, empty for a name it does not know.
}

/** Returns what went wrong, or null. */
function runApt(...args: readonly string[]): string | null {
  const options = ["-qq", "--yes", "-o", `DPkg::Lock::Timeout=${LOCK_SECONDS}`];
  const { status, stderr, error } = spawnSync(FLOCK, [TURN, APT_GET, ...options, ...args], {
    encoding: "utf8",
    timeout: APT_TIMEOUT_MS,
    stdio: ["ignore", "ignore", "pipe"],
    env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
  });
  if (status === 0) return null;
  return error?.message ?? stderr.trim();
}
