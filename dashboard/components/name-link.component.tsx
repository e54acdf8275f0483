import { hrefOf } from '../shell/hash.router.js';
import { PlainText } from './plain-text.component.js';

export interface NameLinkProps {
  /** Page of what is named. */
  of: 'destinations' | 'sources' | 'users';
  name: string | undefined;
  /** Maximum number of characters shown. */
  max?: number;
}

/** The name of a destination or source, or the id of a user, as a link to its page. */
export function NameLink({ of, name, max = 200 }: NameLinkProps) {
  const href = of === 'users' ? hrefOf(of, { userId: name }) : hrefOf(of, {}, name ?? '');
  return <PlainText value={name} max={max} href={href} />;
}
