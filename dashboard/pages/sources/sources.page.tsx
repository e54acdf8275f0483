import type { Route } from '../../shell/hash.router.js';
import { SourceList } from './source-list.component.js';
import { SourceView } from './source-view.component.js';

/** `#/sources` and `#/sources/<name>`. */
export default function SourcesPage({ route: { rest, query } }: { route: Route }) {
  const [name = ''] = rest;
  return name === '' ? <SourceList /> : <SourceView name={name} query={query} />;
}
