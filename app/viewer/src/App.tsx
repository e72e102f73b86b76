import { lazy, Suspense } from 'react'
import { Boundary } from './interface/Boundary'
import { Link, namedMessage, usePath } from './interface/navigation'
import { begin } from './session/opening'

const loadSession = () => import('./session/Session')
const Session = lazy(loadSession)
const SessionList = lazy(() => import('./sessions/SessionList'))

const SESSION = /^\/sessions\/([^/]+)\/?$/
// A session and its code are asked for with the page, not one after the other.
const first = SESSION.exec(location.pathname)?.[1]
if (first) {
  begin(decodeURIComponent(first), namedMessage())
  void loadSession()
}

/** What the address asks for. */
export function App() {
  const path = usePath()
  const session = SESSION.exec(path)?.[1]
  if (session) {
    const id = decodeURIComponent(session)
    return (
      <Boundary key={id} fallback={<Broken />}>
        <Suspense fallback={<Loading />}>
          <Session id={id} />
        </Suspense>
      </Boundary>
    )
  }
  if (path === '/') {
    return (
      <Boundary fallback={<Broken />}>
        <Suspense fallback={<Loading />}>
          <SessionList />
        </Suspense>
      </Boundary>
    )
  }
  return (
    <main className="empty">
      <h1>There is no such page</h1>
      <Link to="/">All sessions</Link>
    </main>
  )
}

function Loading() {
  return (
    <p role="status" className="unseen">
      Loading
    </p>
  )
}

function Broken() {
  return (
    <main className="empty" role="alert">
      <h1>This page could not be drawn</h1>
      <button type="button" onClick={() => location.reload()}>
        Load it again
      </button>
    </main>
  )
}
