/** Colours that a program chose, made readable on what they stand on. */

/** Red, green and blue, each from 0 to 255. */
export type Colour = readonly [number, number, number]

/** WCAG 2.2, contrast of text (minimum). */
const LEAST = 4.5
const STEPS = 10

/** The contrast ratio of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(one: Colour, other: Colour): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number]
  return (light + 0.05) / (dark + 0.05)
}

/** A colour itself, or as much of it as can be read on `ground`. */
export function readable(colour: Colour, ground: Colour): Colour {
  const end: Colour = contrast([255, 255, 255], ground) >= LEAST ? [255, 255, 255] : [0, 0, 0]
  for (let step = 0; step < STEPS; step++) {
    const mixed = mix(colour, end, step / STEPS)
    if (contrast(mixed, ground) >= LEAST) return mixed
  }
  return end
}

function mix(colour: Colour, end: Colour, part: number): Colour {
  const [red, green, blue] = colour.map((value, index) =>
    Math.round(value + ((end[index] as number) - value) * part),
  ) as [number, number, number]
  return [red, green, blue]
}

function luminance(colour: Colour): number {
  const [red, green, blue] = colour.map((value) => {
    const part = value / 255
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
