import { useGraphiQL, useGraphiQLActions } from '@graphiql/react'
import { useEffect } from 'react'

/** The way back to the viewer, in the place of GraphiQL's own name. */
export function Logo() {
  useSystemTheme()
  return (
    <a className="graphiql-logo-link" href="/">
      Toolfold
    </a>
  )
}

/** Keep the editors in the system's colours; GraphiQL asks for these only when it starts. */
function useSystemTheme() {
  const theme = useGraphiQL((state) => state.theme)
  const { setTheme } = useGraphiQLActions()
  useEffect(() => {
    if (theme !== null) return
    const scheme = window.matchMedia('(prefers-color-scheme: dark)')
    const follow = () => setTheme(null)
    scheme.addEventListener('change', follow)
    return () => scheme.removeEventListener('change', follow)
  }, [theme, setTheme])
}
