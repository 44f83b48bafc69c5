/** Places in the built script, told as places in its sources. */
import { SourceMap, type SourceMapPayload } from "node:module";

/** `at fetch (index.js:12:9)`: the place that a line of a stack ends in; the API adds its code to the last one. */
const PLACE = /(?<=[\s(])(?:[\w+.-]+:\/*)?([^\s():]+\.js):(\d+):(\d+)(?=\)?(?: \(\d+\)\.)?$)/gm;

/** `name` is what the built module is called. */
export function sourceStacks(map: string | null, name: string): (stack: string) => string {
  if (map === null) return (stack) => stack;
  const sources = new SourceMap(JSON.parse(map) as SourceMapPayload);
  return (stack) =>
    stack.replaceAll(PLACE, (place, file: string, line: string, column: string) => {
      if (file !== name && !file.endsWith(`/${name}`)) return place;
      const origin = sources.findOrigin(Number(line), Number(column));
      if (!("fileName" in origin)) return place; // Code of the bundler's own.
      return `${origin.fileName}:${origin.lineNumber}:${origin.columnNumber}`;
    });
}
