/** Sizes, times and counts as people read them. */

/** "512 B", "12.3 KB", "5.8 MB". */
export function size(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`
  for (const [unit, divisor] of [
    ['KB', 1e3],
    ['MB', 1e6],
  ] as const) {
    const value = bytes / divisor
    if (value < 999.95) return `${value.toFixed(1)} ${unit}`
  }
  return `${(bytes / 1e9).toFixed(1)} GB`
}

/** "0.4 s", "12 s", "3 min 5 s", "1 h 12 min". */
export function duration(milliseconds: number): string {
  const seconds = milliseconds / 1000
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`
  if (seconds < 59.5) return `${Math.round(seconds)} s`
  const whole = Math.round(seconds)
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`
}

const plain = new Intl.NumberFormat('en')
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 })

/** "100,000". */
export function count(value: number): string {
  return plain.format(value)
}

/** "5.1M". */
export function roughly(value: number): string {
  return compact.format(value)
}

/** "1 message", "2 messages". */
export function counted(value: number, noun: string): string {
  return `${count(value)} ${noun}${value === 1 ? '' : 's'}`
}

const clock = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const day = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const dayOfYear = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' })
const full = new Intl.DateTimeFormat('en-GB', { dateStyle: 'full', timeStyle: 'medium' })

export function time(instant: string): string {
  return clock.format(new Date(instant))
}

/** "14:02" today, "3 Nov, 14:02" this year, else "3 Nov 2025". */
export function when(instant: string, now = new Date()): string {
  const date = new Date(instant)
  if (date.toDateString() === now.toDateString()) return clock.format(date)
  if (date.getFullYear() === now.getFullYear()) return `${day.format(date)}, ${clock.format(date)}`
  return dayOfYear.format(date)
}

export function fully(instant: string): string {
  return full.format(new Date(instant))
}
