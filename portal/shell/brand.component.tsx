import { toPlainText } from '../../dashboard/components/plain-text.util.js';
import { words } from '../words/words.js';
import { returnUrl, session } from './session.state.js';

/** Logo and name of the application, if it has set them. */
export function Brand() {
  const brand = session.value?.brand;
  if (!brand) return null;
  return (
    <span class="brand">
      {brand.logo !== undefined && <img src={brand.logo} alt="" />}
      <span>{toPlainText(brand.name, 100)}</span>
    </span>
  );
}

/** Leads out of the portal, also out of its frame; nothing, if the link names no page. */
export function BackLink({ look }: { look: string }) {
  const url = returnUrl();
  if (url === undefined) return null;
  const name = session.value?.brand?.name;
  return (
    <a class={look} href={url} target="_top">
      {words.shell.back(name === undefined ? words.shell.application : toPlainText(name, 100))}
    </a>
  );
}
