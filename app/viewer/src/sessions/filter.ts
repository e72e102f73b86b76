/** What narrows the list down is in the address, so that a filtered list can be linked to. */
import { useMemo } from 'react'
import { amend, useQuery } from '../interface/navigation'
import type { Filter } from './store'

export const STATUSES = [
  ['ACTIVE', 'Active'],
  ['COMPLETED', 'Completed'],
  ['FAILED', 'Failed'],
  ['ARCHIVED', 'Archived'],
] as const

/** The filter that the address has; the same object while it does. */
export function useFilter(): Filter {
  const query = useQuery()
  return useMemo(() => {
    const parameters = new URLSearchParams(query)
    return {
      project: parameters.get('project'),
      title: parameters.get('q') ?? '',
      agent: parameters.get('agent') ?? '',
      status: STATUSES.find(([status]) => status === parameters.get('status'))?.[0] ?? null,
    }
  }, [query])
}

export function isNarrowed(filter: Filter): boolean {
  return Boolean(filter.title || filter.agent || filter.status || filter.project)
}

/** Put one part of the filter into the address; an empty one takes it out. */
export function narrow(name: 'project' | 'q' | 'agent' | 'status', value: string): void {
  const parameters = new URLSearchParams(location.search)
  if (value) parameters.set(name, value)
  else parameters.delete(name)
  const query = parameters.toString()
  amend(query ? `/?${query}` : '/')
}
