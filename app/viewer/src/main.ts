/** Asks for what the address names before there is anything to show it with, then shows it. */
import { prepareToFollow } from './graphql/client'
import { beginning, isList, sessionIn } from './interface/address'
import { begin } from './session/opening'
import './style/index.css'

const id = sessionIn(location.pathname)
if (id !== null) begin(id, beginning())
// The page's code comes beside that of the frame around it, not after it.
if (id !== null) void import('./session/Session')
else if (isList(location.pathname)) {
  prepareToFollow()
  void import('./sessions/SessionList')
}
void import('./App').then(({ show }) => show(document.getElementById('root') as HTMLElement))
