import { Component, type ReactNode } from 'react'

interface Props {
  /** Shown in the place of what could not be. */
  fallback: ReactNode
  children: ReactNode
}

/** Keeps what fails to render from taking the page with it. */
export class Boundary extends Component<Props, { failed: boolean }> {
  override state = { failed: false }

  static getDerivedStateFromError() {
    return { failed: true }
  }

  override render() {
    return this.state.failed ? this.props.fallback : this.props.children
  }
}
