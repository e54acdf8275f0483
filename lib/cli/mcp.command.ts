import { once } from 'node:events';

import { loadMcp } from '../webhook-destination/admin/mcp/mcp.server.js';
import { AdminClient } from './admin.client.js';
import { argumentFault, defineCommand } from './command.util.js';

export const command = defineCommand({
  usage: `Usage: nestjs-analytics-relay mcp [options]

Serves the operator's questions to an AI assistant, as tools of the Model Context Protocol on standard input and output:
search, one delivery, why a message was not delivered, explain, overview, destinations, sources. With a token that may
write, also replay. Needs the package @modelcontextprotocol/sdk.

  --url <url>           the dashboard; default: http://localhost:3000/relay
  --token <token>       token of the admin API; default: ADMIN_TOKEN of the environment, which other users of the
                        machine cannot see
  --help                show this help
`,
  options: { url: { type: 'string', default: 'http://localhost:3000/relay' }, token: { type: 'string' } },
  run: async ({ url, token = process.env.ADMIN_TOKEN }) => {
    const { protocol, username, password } = URL.canParse(url) ? new URL(url) : { protocol: '' };
    if (!/^https?:$/.test(protocol) || username || password) {
      throw argumentFault('--url must be the URL of the dashboard, http:// or https://, without a user or password');
    }
    if (!token) throw argumentFault('--token, or ADMIN_TOKEN of the environment, must be a token of the admin API');
    // The error of `fetch` for a header would quote it.
    if (!/^[!-~]+$/.test(token)) throw argumentFault('the token must be visible ASCII characters without spaces');
    const { createServer } = await loadMcp('mcp');
    const client = new AdminClient(url, token);
    const { access } = (await client.get('session')) as { access?: string };
    const server = createServer(client, access === 'write' ? 'write' : 'read');
    const { StdioServerTransport } = await import('@modelcontextprotocol/sdk/server/stdio.js');
    const ended = once(process.stdin, 'close');
    await server.connect(new StdioServerTransport());
    await ended;
  },
});
