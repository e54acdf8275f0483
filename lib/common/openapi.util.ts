import type { Type } from '@nestjs/common';

/** The part of an OpenAPI schema that is used here. */
export interface Schema {
  type?: 'string' | 'array' | 'object';
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
  /** Of the body, where there is one. */
  schema?: Schema;
  /** By status. */
  answers: Record<number, string>;
}

/** Describes routes of a controller, by the names of their methods, where the application has `@nestjs/swagger`. */
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
  const { ApiBasicAuth, ApiBearerAuth, ApiBody, ApiOperation, ApiResponse, ApiTags } = swagger;
  ApiTags('analytics')(controller);
  const prototype = controller.prototype as object;
  for (const { name, description } of routes) {
    const { summary, operationId, authorization, schema, answers } = description;
    const decorators = [
      ApiOperation({ summary, operationId }),
      authorization === 'Basic' ? ApiBasicAuth() : ApiBearerAuth(),
      ...(schema ? [ApiBody({ schema })] : []),
      ...Object.entries(answers).map(([status, answer]) =>
        ApiResponse({ status: Number(status), description: answer }),
      ),
    ];
    const descriptor = Object.getOwnPropertyDescriptor(prototype, name)!;
    for (const decorate of decorators) decorate(prototype, name, descriptor);
  }
}
