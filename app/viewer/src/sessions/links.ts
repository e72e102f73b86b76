/** The links to sessions in the list, in their order on the screen. */
export function links(list: HTMLElement | null): HTMLElement[] {
  return [...(list?.querySelectorAll<HTMLElement>('a.open') ?? [])]
}
