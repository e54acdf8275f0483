/** Lowest contrast of text with its background: WCAG 2.2, level AA. */
const MIN_CONTRAST = 4.5;

/** Backgrounds that links stand on: of the light theme the darkest, of the dark one the lightest. Of `look.css`. */
const GROUNDS = { light: '#f4f5f7', dark: '#23272f' };

type Rgb = [red: number, green: number, blue: number];

/** Returns the values of the accent's variables: the colour itself for buttons, and a readable one for text. */
export function accentColours(accent: string): Record<'--fill' | '--on-fill' | '--accent', string> {
  const colour = parse(accent);
  const onFill = contrast(colour, [0, 0, 0]) > contrast(colour, [255, 255, 255]) ? '#000' : '#fff';
  const onLight = readable(colour, parse(GROUNDS.light), [0, 0, 0]);
  const onDark = readable(colour, parse(GROUNDS.dark), [255, 255, 255]);
  return { '--fill': accent, '--on-fill': onFill, '--accent': `light-dark(${onLight}, ${onDark})` };
}

/** Mixes a colour with black or white until it can be read. */
function readable(colour: Rgb, ground: Rgb, end: Rgb): string {
  let mixed = colour;
  for (let share = 0.05; contrast(mixed, ground) < MIN_CONTRAST && share <= 1; share += 0.05) {
    mixed = colour.map((value, index) => Math.round(value + (end[index]! - value) * share)) as Rgb;
  }
  return `rgb(${mixed.join(' ')})`;
}

/** @see https://www.w3.org/TR/WCAG22/#dfn-contrast-ratio */
function contrast(one: Rgb, other: Rgb): number {
  const [low, high] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (high + 0.05) / (low + 0.05);
}

function luminance(colour: Rgb): number {
  const [red, green, blue] = colour.map((value) => {
    const share = value / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** @param colour such as `#4656d6` */
function parse(colour: string): Rgb {
  return [1, 3, 5].map((start) => parseInt(colour.slice(start, start + 2), 16)) as Rgb;
}
