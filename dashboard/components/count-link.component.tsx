/** A number, as a link to what was counted; no link if it is 0. */
export function CountLink({ count = 0, href }: { count: number | undefined; href: string }) {
  return count === 0 ? <span class="muted">0</span> : <a href={href}>{count.toLocaleString()}</a>;
}
