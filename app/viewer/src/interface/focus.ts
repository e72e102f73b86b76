/** Where keys go while nothing has been chosen. */

/** Give what scrolls the focus, for its keys; no ring is drawn before a key is used. */
export function focusQuietly(element: HTMLElement | null | undefined): void {
  const options: FocusOptions & { focusVisible: boolean } = { preventScroll: true, focusVisible: false }
  element?.focus(options)
}

/** The same where nothing has it. */
export function focusUnlessTaken(element: HTMLElement | null | undefined): void {
  if (document.activeElement === document.body) focusQuietly(element)
}

/** Give the focus to what `element` stands in, as it goes. */
export function focusAround(element: HTMLElement): void {
  element.parentElement?.closest<HTMLElement>('[tabindex]')?.focus({ preventScroll: true })
}

/** Give a field the focus; what is typed takes the place of what is in it. */
export function focusField(field: HTMLInputElement | null): void {
  field?.focus()
  field?.select()
}
