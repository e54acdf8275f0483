import type { Type } from '@nestjs/common';

/** The part of an OpenAPI schema that is used here. */
export interface Schema {
  type?: 'string' | 'integer' | 'array' | 'object';
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  format?: string;
  maxLength?: number;
  maxItems?: number;
  additionalProperties?: boolean;
  description?: string;
}

/** A route in an OpenAPI document. */
export interface RouteDescription {
  summary: string;
  operationId: string;
  authorization: 'Basic' | 'Bearer';
  /** Schema of the body; undefined if the route takes none. */
  schema?: Schema | undefined;
  parameters?: { name: string; in: 'path' | 'query'; description: string }[];
  /** Descriptions of the responses, by status. */
  answers: Record<number, string>;
}

/** Describes routes of a controller, by the names of their methods, if the application has `@nestjs/swagger`. */
export async function describeRoutes(
  controller: Type,
  routes: { name: string; description: RouteDescription }[],
): Promise<void> {
  let swagger: typeof import('@nestjs/swagger');
  try {
    swagger = await import('@nestjs/swagger');
  } catch {
    return;
  }
  const { ApiBasicAuth, ApiBearerAuth, ApiBody, ApiOperation, ApiParam, ApiQuery, ApiResponse, ApiTags } = swagger;
  ApiTags('analytics')(controller);
  const prototype = controller.prototype as object;
  for (const { name, description } of routes) {
    const { summary, operationId, authorization, schema, parameters = [], answers } = description;
    const decorators = [
      ApiOperation({ summary, operationId }),
      authorization === 'Basic' ? ApiBasicAuth() : ApiBearerAuth(),
      ...(schema ? [ApiBody({ schema })] : []),
      ...parameters.map(({ name, in: place, description: text }) =>
        place === 'path'
          ? ApiParam({ name, description: text })
          : ApiQuery({ name, description: text, required: false, type: String }),
      ),
      ...Object.entries(answers).map(([status, answer]) =>
        ApiResponse({ status: Number(status), description: answer }),
      ),
    ];
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
    for (const decorate of decorators) decorate(prototype, name, descriptor);
  }
}
