import type { ApiRequest, ApiRoute } from '../api/api.route.js';
import type { ApiCaller } from './api-caller.interface.js';
import { loadMcp, type Mcp } from './mcp.server.js';

/** The tools of an AI assistant, by the Model Context Protocol over HTTP. */
export class McpRoute {
  private mcp: Mcp | undefined;

  /** @param callerOf returns what calls other routes as the caller of a request */
  constructor(private readonly callerOf: (request: ApiRequest) => ApiCaller) {}

  /** @throws {PackageError} if the SDK is not installed */
  async open(): Promise<void> {
    this.mcp = await loadMcp('admin.mcp');
  }

  readonly route: ApiRoute = {
    method: 'POST',
    path: 'mcp',
    access: 'read',
    schema: { type: 'object' },
    summary: 'Tools for an AI assistant: Model Context Protocol, Streamable HTTP, without sessions and streams',
    handle: (request) => this.handle(request),
  };

  private async handle(given: ApiRequest): Promise<undefined> {
    const { request, response, body, caller } = given;
    const { createServer, HttpTransport } = this.mcp!; // requests come once the relay is open
    const server = createServer(this.callerOf(given), caller.access);
    const transport = new HttpTransport({ enableJsonResponse: true });
    try {
      await server.connect(transport); // its types are older than this setting
      await transport.handleRequest(request, response, body);
    } finally {
      await server.close();
    }
  }
}
