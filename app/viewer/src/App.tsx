import { useEffect } from 'react'
import { createRoot } from 'react-dom/client'
import { isList, sessionIn } from './interface/address'
import { Boundary } from './interface/Boundary'
import { later } from './interface/later'
import { Link, usePath } from './interface/navigation'
import { visible } from './interface/visible'

const Session = later(() => import('./session/Session'))
const SessionList = later(() => import('./sessions/SessionList'))

/** Show what the address asks for, once its code is there. */
export async function show(place: HTMLElement) {
  const path = location.pathname
  // What does not come is told in its place.
  if (sessionIn(path) !== null) await Session.ready().catch(() => undefined)
  else if (isList(path)) await SessionList.ready().catch(() => undefined)
  createRoot(place).render(<App />)
}

function App() {
  const path = usePath()
  const session = sessionIn(path)
  if (session !== null) {
    return (
      <Boundary key={session} fallback={<Broken />}>
        <Session id={session} fallback={<Loading />} />
      </Boundary>
    )
  }
  if (isList(path)) {
    return (
      <Boundary fallback={<Broken />}>
        <SessionList fallback={<Loading />} />
      </Boundary>
    )
  }
  return <Nowhere path={path} />
}

/** The server answers with this at any address that it does not know. */
function Nowhere({ path }: { path: string }) {
  useEffect(() => {
    document.title = 'There is no such page · Toolfold'
  }, [])
  return (
    <main className="empty nowhere">
      <h1>There is no such page</h1>
      <p>
        There is nothing at <code>{visible(path)}</code>.
      </p>
      <p>
        <Link to="/" className="button">
          All sessions
        </Link>
      </p>
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
