import { createRoot } from 'react-dom/client'
import { sessionIn } from './interface/address'
import { Boundary } from './interface/Boundary'
import { later } from './interface/later'
import { Link, usePath } from './interface/navigation'

const Session = later(() => import('./session/Session'))
const SessionList = later(() => import('./sessions/SessionList'))

/** Show what the address asks for, once its code is there. */
export async function show(place: HTMLElement) {
  await (sessionIn(location.pathname) === null ? SessionList : Session).ready()
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
  if (path === '/') {
    return (
      <Boundary fallback={<Broken />}>
        <SessionList fallback={<Loading />} />
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
