import { Search } from 'lucide-react'
import { type RefObject, useEffect, useRef, useState } from 'react'
import { request } from '../graphql/client'
import { ProjectsQuery } from '../graphql/documents'
import { visible } from '../interface/visible'
import { narrow, STATUSES } from './filter'
import type { Filter, Sessions } from './store'

const TYPING_MS = 200

interface Props {
  filter: Filter
  sessions: Sessions
  search: RefObject<HTMLInputElement | null>
}

/** What narrows the list down. */
export function Filters({ filter, sessions, search }: Props) {
  const agents = useAgents(sessions)
  const [projects, setProjects] = useState<{ id: string; name: string }[]>([])
  const [typed, setTyped] = useState(filter.title)
  // What narrows by other means, such as “Show all”, is in the field as well, and not narrowed back by it.
  const [title, setTitle] = useState(filter.title)
  if (title !== filter.title) {
    setTitle(filter.title)
    setTyped(filter.title)
  }
  useEffect(() => {
    let mounted = true
    const load = (after: string | null): Promise<void> =>
      request(ProjectsQuery, { after }).then(async ({ projects: { nodes, pageInfo } }) => {
        if (!mounted) return
        setProjects((known) => (after === null ? nodes : [...known, ...nodes]))
        if (pageInfo.hasNextPage) await load(pageInfo.endCursor)
      })
    // Those that are there can be chosen among.
    load(null).catch(() => undefined)
    return () => {
      mounted = false
    }
  }, [])
  useEffect(() => {
    if (typed === filter.title) return
    const timer = setTimeout(() => narrow('q', typed), TYPING_MS)
    return () => clearTimeout(timer)
  }, [typed, filter.title])
  return (
    <search className="filters">
      <label className="search">
        <Search size={15} aria-hidden />
        <span className="unseen">Search titles</span>
        <input
          ref={search}
          type="search"
          placeholder="Search titles"
          value={typed}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Escape') return
            // Browsers empty such a field; what was searched for is what the keys go through next.
            event.preventDefault()
            event.currentTarget.blur()
          }}
        />
      </label>
      {(projects.length > 1 || filter.project) && (
        <Choice name="project" label="Project" value={filter.project ?? ''} all="All projects">
          {projects.map((project) => (
            <option key={project.id} value={project.id}>
              {visible(project.name)}
            </option>
          ))}
        </Choice>
      )}
      <Choice name="agent" label="Agent" value={filter.agent} all="Any agent">
        {agents.map((agent) => (
          <option key={agent} value={agent}>
            {visible(agent)}
          </option>
        ))}
      </Choice>
      <Choice name="status" label="Status" value={filter.status ?? ''} all="Any status">
        {STATUSES.map(([status, word]) => (
          <option key={status} value={status}>
            {word}
          </option>
        ))}
      </Choice>
    </search>
  )
}

interface ChoiceProps {
  name: Parameters<typeof narrow>[0]
  label: string
  value: string
  all: string
  children: React.ReactNode
}

function Choice({ name, label, value, all, children }: ChoiceProps) {
  return (
    <select aria-label={label} value={value} onChange={(event) => narrow(name, event.target.value)}>
      <option value="">{all}</option>
      {children}
    </select>
  )
}

/** The agents that were seen, to choose from. */
function useAgents(sessions: Sessions): string[] {
  const seen = useRef(new Set<string>())
  for (const row of sessions.rows) seen.current.add(row.agent)
  if (sessions.filter.agent) seen.current.add(sessions.filter.agent)
  return [...seen.current].sort()
}
