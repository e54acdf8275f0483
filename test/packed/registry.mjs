import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { basename } from 'node:path';

/** Package managers refuse what has been published only just now. */
const PUBLISHED_AT = '2026-01-01T00:00:00.000Z';

/**
 * Serves a registry that has the packed packages; requests for others are sent on to the real one. Resolves with its
 * address and a function that ends it.
 *
 * @param packages of each, what `npm pack --json` says of it, its manifest and its tarball
 */
export async function serveRegistry({ packages, upstream }) {
  const server = createServer((request, response) => {
    for (const { packed, manifest, tarball } of packages) {
      const { name, version, shasum, integrity } = packed;
      const tarballPath = `/${name}/-/${basename(tarball)}`;
      if (request.url === `/${name}`) {
        const dist = { tarball: `http://${request.headers.host}${tarballPath}`, shasum, integrity };
        return response.setHeader('Content-Type', 'application/json').end(
          JSON.stringify({
            name,
            'dist-tags': { latest: version },
            time: { created: PUBLISHED_AT, modified: PUBLISHED_AT, [version]: PUBLISHED_AT },
            versions: { [version]: { ...manifest, dist } },
          }),
        );
      }
      if (request.url === tarballPath) return response.end(readFileSync(tarball));
    }
    response.writeHead(302, { Location: new globalThis.URL(request.url, upstream).href }).end();
  });
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  };
}

/** The settings that make each package manager use a registry. */
export function registrySettings(url) {
  return {
    npm_config_registry: url,
    pnpm_config_registry: url,
    YARN_NPM_REGISTRY_SERVER: url,
    YARN_UNSAFE_HTTP_WHITELIST: new globalThis.URL(url).hostname,
  };
}
