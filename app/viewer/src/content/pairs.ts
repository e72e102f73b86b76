/** Which removed line became which added one. */

/** Words beyond this length of a line are not looked at. */
const MOST_LINE = 1_000
/** Lines that have less than this in common are others, not changed ones. */
const ENOUGH = 0.5

/** How many pairs of lines may still be compared. */
export interface Budget {
  left: number
}

/**
 * Pair removed with added lines, in their order, so that those that are most alike are together; what is left between
 * two pairs goes together one by one where it is as many.
 *
 * @returns places in `removed` and `added`
 */
export function pairs(
  removed: readonly string[],
  added: readonly string[],
  budget: Budget,
): [number, number][] {
  const alike = alikes(removed, added, budget)
  const found: [number, number][] = []
  let [before, after] = [0, 0]
  for (const [old, now] of [...alike, [removed.length, added.length] as [number, number]]) {
    if (old - before === now - after) {
      for (let step = 0; before + step < old; step++) found.push([before + step, after + step])
    }
    if (old < removed.length && now < added.length) found.push([old, now])
    ;[before, after] = [old + 1, now + 1]
  }
  return found
}

/** The pairs with the most in common altogether, none of them crossing another. */
function alikes(removed: readonly string[], added: readonly string[], budget: Budget): [number, number][] {
  const [height, width] = [removed.length, added.length]
  budget.left -= height * width
  if (budget.left < 0) return []
  const [olds, nows] = [removed.map(wordsOf), added.map(wordsOf)]
  const scores = olds.map((old) => nows.map((now) => likeness(old, now)))
  // What the lines from a place on can have in common at best.
  const best = Array.from({ length: height + 1 }, () => new Float64Array(width + 1))
  const at = (old: number, now: number) => best[old]?.[now] ?? 0
  const together = (old: number, now: number) => {
    const score = scores[old]?.[now] ?? 0
    return score < ENOUGH ? 0 : score + at(old + 1, now + 1)
  }
  for (let old = height - 1; old >= 0; old--) {
    for (let now = width - 1; now >= 0; now--) {
      const row = best[old] as Float64Array
      row[now] = Math.max(together(old, now), at(old + 1, now), at(old, now + 1))
    }
  }
  const found: [number, number][] = []
  for (let old = 0, now = 0; old < height && now < width; ) {
    if (at(old, now) > 0 && together(old, now) === at(old, now)) found.push([old++, now++])
    else if (at(old + 1, now) >= at(old, now + 1)) old++
    else now++
  }
  return found
}

/** The words and signs of a line, whatever their case, with how often each is there. */
function wordsOf(line: string): Map<string, number> {
  const words = new Map<string, number>()
  for (const [word] of line
    .slice(0, MOST_LINE)
    .toLowerCase()
    .matchAll(/[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu)) {
    words.set(word, (words.get(word) ?? 0) + 1)
  }
  return words
}

/** From 0, nothing in common, to 1, the same words. */
function likeness(old: Map<string, number>, now: Map<string, number>): number {
  let [all, common] = [0, 0]
  for (const count of now.values()) all += count
  for (const [word, count] of old) {
    all += count
    common += Math.min(count, now.get(word) ?? 0)
  }
  return all ? (2 * common) / all : 0
}
