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
