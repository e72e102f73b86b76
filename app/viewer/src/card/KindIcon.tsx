import {
  Brain,
  FileText,
  FolderInput,
  Globe,
  type LucideIcon,
  Pencil,
  Search,
  SlidersHorizontal,
  Terminal,
  Trash2,
  Wrench,
} from 'lucide-react'
import type { ToolCall } from '../graphql/documents'

const ICONS: Record<ToolCall['kind'], LucideIcon> = {
  READ: FileText,
  EDIT: Pencil,
  DELETE: Trash2,
  MOVE: FolderInput,
  SEARCH: Search,
  EXECUTE: Terminal,
  THINK: Brain,
  FETCH: Globe,
  SWITCH_MODE: SlidersHorizontal,
  OTHER: Wrench,
}

export function KindIcon({ kind }: { kind: ToolCall['kind'] }) {
  const Icon = ICONS[kind]
  return <Icon size={15} className="kind" data-kind={kind} aria-hidden />
}
