/** Finds what a path leads to: a tree with a level for each segment. */

interface Node<T> {
  readonly fixed: Map<string, Node<T>>;
  /** Where any other segment leads, by the name of the parameter it fills. */
  parameter: { readonly name: string; readonly node: Node<T> } | null;
  /** Where all that is left leads, slashes and all. */
  rest: { readonly name: string; readonly node: Node<T> } | null;
  readonly methods: Map<string, T>;
  path: string;
}

export interface Match<T> {
  /** The path as it was declared: `/user/tokens/:token_id`. */
  readonly path: string;
  /** What each method leads to. */
  readonly methods: ReadonlyMap<string, T>;
  readonly params: Readonly<Record<string, string>>;
}

export class Router<T> {
  readonly #root = emptyNode<T>();
  /** Paths without parameters, found in one look. */
  readonly #fixed = new Map<string, Match<T>>();

  add(method: string, path: string, target: T): void {
    let node = this.#root;
    for (const segment of path.slice(1).split("/")) node = step(node, segment, path);
    if (node.methods.has(method)) throw new Error(`${method} ${path} is declared twice`);
    node.methods.set(method, target);
    node.path = path;
    if (!/[:*]/.test(path)) this.#fixed.set(path, { path, methods: node.methods, params: {} });
  }

  /** Null where nothing is declared. A fixed segment wins over a parameter, a parameter over `*rest`. */
  match(path: string): Match<T> | null {
    return this.#fixed.get(path) ?? this.#walk(path);
  }

  #walk(path: string): Match<T> | null {
    const params: Record<string, string> = {};
    let node = this.#root;
    let from = 1;
    while (from <= path.length) {
      const slash = path.indexOf("/", from);
      const to = slash === -1 ? path.length : slash;
      const segment = path.slice(from, to);
      const fixed = node.fixed.get(segment);
      if (fixed !== undefined) node = fixed;
      else if (node.parameter !== null && segment !== "") {
        params[node.parameter.name] = segment;
        node = node.parameter.node;
      } else if (node.rest !== null) {
        params[node.rest.name] = path.slice(from);
        node = node.rest.node;
        break;
      } else return null;
      from = to + 1;
    }
    return node.methods.size === 0 ? null : { path: node.path, methods: node.methods, params };
  }
}

function emptyNode<T>(): Node<T> {
  return { fixed: new Map(), parameter: null, rest: null, methods: new Map(), path: "" };
}

/** The next level down, made where it is missing. */
function step<T>(node: Node<T>, segment: string, path: string): Node<T> {
  if (segment.startsWith(":")) {
    const name = segment.slice(1);
    node.parameter ??= { name, node: emptyNode() };
    if (node.parameter.name === name) return node.parameter.node;
    throw new Error(`${path} names a parameter that another path calls :${node.parameter.name}`);
  }
  if (segment.startsWith("*")) {
    node.rest ??= { name: segment.slice(1), node: emptyNode() };
    return node.rest.node;
  }
  let next = node.fixed.get(segment);
  if (next === undefined) node.fixed.set(segment, (next = emptyNode()));
  return next;
}
