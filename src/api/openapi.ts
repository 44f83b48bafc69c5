/** The reference of the API in OpenAPI 3.1, made from the declarations that also serve it. */
import { z } from "zod";
import type { Endpoint } from "./endpoint.ts";

export function describeApi(endpoints: readonly Endpoint[], base: string): object {
  const paths: Record<string, Record<string, object>> = {};
  for (const endpoint of endpoints) {
    const path = endpoint.path.replaceAll(/[:*](\w+)/g, "{$1}");
    (paths[path] ??= {})[endpoint.method.toLowerCase()] = describeOperation(endpoint);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Selvedge management API", version: "4" },
    servers: [{ url: base }],
    components: {
      securitySchemes: {
        token: { type: "http", scheme: "bearer" },
        email: { type: "apiKey", in: "header", name: "X-Auth-Email" },
        key: { type: "apiKey", in: "header", name: "X-Auth-Key" },
      },
    },
    paths,
  };
}

function describeOperation(endpoint: Endpoint): object {
  const inPath = [...endpoint.path.matchAll(/[:*](\w+)/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const shapes: { query?: z.ZodType; body?: z.ZodType; upload?: boolean } =
    endpoint.permission === "open" ? {} : endpoint;
  const inQuery = Object.entries(propertiesOf(shapes.query)).map(([name, schema]) => ({
    name,
    in: "query",
    schema,
  }));
  return {
    summary: endpoint.summary,
    "x-permission": endpoint.permission,
    ...(endpoint.permission !== "open" && { security: [{ token: [] }, { email: [], key: [] }] }),
    parameters: [...inPath, ...inQuery],
    ...(shapes.body !== undefined && {
      requestBody: {
        content: {
          [shapes.upload === true ? "multipart/form-data" : "application/json"]: {
            schema: jsonSchema(shapes.body),
          },
        },
      },
    }),
    responses: {
      200: { description: "The result in its envelope" },
      "4XX": { description: "What was wrong, in `errors`" },
    },
  };
}

function jsonSchema(shape: z.ZodType): Record<string, unknown> {
  const { $schema: _, ...schema } = z.toJSONSchema(shape, { io: "input", unrepresentable: "any" });
  return schema;
}

function propertiesOf(shape: z.ZodType | undefined): Record<string, object> {
  if (shape === undefined) return {};
  return (jsonSchema(shape)["properties"] ?? {}) as Record<string, object>;
}
