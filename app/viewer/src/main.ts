/** Asks for what the address names before there is anything to show it with, then shows it. */
import { prepareToFollow } from './graphql/client'
import { beginning, isList, sessionIn } from './interface/address'
import { begin } from './session/opening'
import './style/index.css'

const id = sessionIn(location.pathname)
if (id !== null) begin(id, beginning())
// The page's code comes beside that of the frame around it, not after it.
const place = document.getElementById('root') as HTMLElement
const early = (code: Promise<unknown>) => code.catch(() => undefined)
if (id !== null) early(import('./session/Session'))
else if (isList(location.pathname)) {
  prepareToFollow()
  early(import('./sessions/SessionList'))
}
import('./App').then(
  ({ show }) => show(place),
  () => {
    const again = document.createElement('a')
    again.href = location.href
    again.textContent = 'Load it again'
    // To the same address with a `#`, a link loads nothing.
    again.onclick = () => location.reload()
    place.append('The viewer could not be loaded. ', again)
    place.role = 'alert'
  },
)
