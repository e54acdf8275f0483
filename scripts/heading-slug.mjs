/** The anchor that GitHub gives a heading; the site is built with the same ones. */
export function slugOf(title) {
  return title
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_ -]/gu, '')
    .replaceAll(' ', '-');
}
