/** Colours, only where a terminal shows them and nobody has asked for none. https://no-color.org */

const codes = {
  bold: [1, 22],
  dim: [2, 22],
  red: [31, 39],
  green: [32, 39],
  yellow: [33, 39],
  cyan: [36, 39],
} as const;

export type Styles = Readonly<Record<keyof typeof codes, (text: string) => string>>;

export function styles(
  stream: { readonly isTTY?: boolean },
  env: Readonly<Record<string, string | undefined>>,
): Styles {
  const isColoured = stream.isTTY === true && !env["NO_COLOR"] && env["TERM"] !== "dumb";
  const entries = Object.entries(codes).map(([name, [on, off]]) => [
    name,
    isColoured ? (text: string) => `\u001B[${on}m${text}\u001B[${off}m` : (text: string) => text,
  ]);
  return Object.fromEntries(entries) as Styles;
}
