/** Asks for what the address names before there is anything to show it with, then shows it. */
import { beginning, sessionIn } from './interface/address'
import { begin } from './session/opening'
import './style/index.css'

const id = sessionIn(location.pathname)
if (id !== null) begin(id, beginning())
// The page's code comes beside that of the frame around it, not after it.
void (id === null ? import('./sessions/SessionList') : import('./session/Session'))
void import('./App').then(({ show }) => show(document.getElementById('root') as HTMLElement))
