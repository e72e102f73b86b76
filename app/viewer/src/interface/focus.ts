/** Where keys go while nothing has been chosen. */

/** Give what scrolls the focus, for its keys, where nothing has it; no ring is drawn before a key is used. */
export function focusUnlessTaken(element: HTMLElement | null | undefined): void {
  const options: FocusOptions & { focusVisible: boolean } = { preventScroll: true, focusVisible: false }
  if (document.activeElement === document.body) element?.focus(options)
}
