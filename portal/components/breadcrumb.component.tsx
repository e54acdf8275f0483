/** A link to the page above this one. */
export function Breadcrumb({ href, children }: { href: string; children: string }) {
  return (
    <p class="breadcrumb">
      <a href={href}>
        <span aria-hidden="true">←</span> {children}
      </a>
    </p>
  );
}
