/** Addresses at which a script answers, as a browser takes them. */

/** Those of routes and domains. `host` is that of the server's scripts, whose port is the edge's. */
export function routeUrls(patterns: readonly string[], host: string): string[] {
  const { port } = new URL(`http://${host}`);
  return patterns.map((pattern) => {
    const [, scheme = "http", name = "", path = ""] = /^(?:(https?):\/\/)?([^/]*)(.*)$/i.exec(
      pattern,
    )!;
    // Nobody can open a star; at the end of a path nothing is as good.
    const ending = name.includes("*") ? path : path.replace(/\*$/, "");
    const at = port === "" || scheme !== "http" ? name : `${name}:${port}`;
    return `${scheme}://${at}${ending}`;
  });
}

export function ownUrl(name: string, host: string): string {
  return `http://${name}.${host}`;
}
